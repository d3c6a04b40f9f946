"""Runs the helpers of one client against a gateway, and writes one line of JSON for each."""

import asyncio
import importlib.metadata
import inspect
import json
import os
import warnings

from pydantic import BaseModel

URL = os.environ["GATEWAY_URL"]
KEY = os.environ["GATEWAY_KEY"]
MODEL = os.environ["GATEWAY_MODEL"]

# What the scripted model answers: without tools, and at the end of a tool loop.
TEXT = '{"city":"Ulm","sunny":true}'
FINAL = "Sunny 🌞 everywhere"

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Weather(BaseModel):
    city: str
    sunny: bool


ANSWER = Weather(city="Ulm", sunny=True)

_cells = []


def cell(client, helper):
    """Registers a helper: it returns what it got and what it should have got."""

    def register(function):
        _cells.append((client, helper, function))
        return function

    return register


def run():
    warnings.simplefilter("ignore")
    # One event loop for all: clients keep their connections.
    with asyncio.Runner() as runner:
        _run_all(runner)


def _run_all(runner):
    for client, helper, function in _cells:
        error = None
        try:
            result = function()
            if inspect.isawaitable(result):
                result = runner.run(result)
            got, wanted = result
            if got != wanted:
                error = f"got {got!r}, not {wanted!r}"
        except Exception as problem:  # noqa: BLE001
            error = f"{type(problem).__name__}: {problem}"[:600]
        name = f"{client} {importlib.metadata.version(client)}"
        print(json.dumps({"client": name, "helper": helper, "error": error}), flush=True)
