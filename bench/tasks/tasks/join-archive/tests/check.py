assert open("answer.txt").read().strip() == "The launch is on the ninth of May."
