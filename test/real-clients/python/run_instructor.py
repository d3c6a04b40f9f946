import anthropic
import instructor
import openai
from cells import ANSWER, KEY, MODEL, URL, Weather, cell, run

ask = [{"role": "user", "content": "Weather?"}]


def add(kind, patched, **more):
    @cell("instructor", f"{kind}: create")
    def _():
        got = patched.create(model=MODEL, messages=ask, response_model=Weather, max_retries=0, **more)
        return got.model_dump(), ANSWER.model_dump()

    @cell("instructor", f"{kind}: create_partial")
    def _():
        last = None
        for last in patched.create_partial(model=MODEL, messages=ask, response_model=Weather, max_retries=0, **more):
            pass
        return [last.city, last.sunny], [ANSWER.city, ANSWER.sunny]


def open_client():
    return openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)


for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA, instructor.Mode.JSON, instructor.Mode.RESPONSES_TOOLS):
    add(f"openai {mode.name}", instructor.from_openai(open_client(), mode=mode))
for mode in (instructor.Mode.ANTHROPIC_TOOLS, instructor.Mode.ANTHROPIC_JSON):
    claude = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
    add(f"anthropic {mode.name}", instructor.from_anthropic(claude, mode=mode), max_tokens=5000)
run()
