#!/bin/bash
# Runs in the task's folder. Writes the reward; the exit code is 0 if the task is solved.
reward=0
python3 "$(dirname "$0")/check.py" && reward=1
mkdir -p /logs/verifier
echo "$reward" > /logs/verifier/reward.txt
[[ $reward == 1 ]]
