import json

import anthropic
import openai
from anthropic import beta_tool
from cells import ANSWER, FINAL, KEY, MODEL, TEXT, URL, Weather, cell, run

client = openai.OpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0)
claude = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
ask = [{"role": "user", "content": "Weather?"}]
said = {"model": MODEL, "max_tokens": 5000, "messages": ask}
tools = [openai.pydantic_function_tool(type("weather", (openai.BaseModel,), {"__annotations__": {"city": str}}))]


@cell("openai", "chat.completions.create")
def _():
    return client.chat.completions.create(model=MODEL, messages=ask).choices[0].message.content, TEXT


@cell("openai", "chat.completions.create, streamed")
def _():
    chunks = client.chat.completions.create(model=MODEL, messages=ask, stream=True)
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices), TEXT


@cell("openai", "chat.completions.parse")
def _():
    done = client.chat.completions.parse(model=MODEL, messages=ask, response_format=Weather)
    return done.choices[0].message.parsed, ANSWER


@cell("openai", "chat.completions.stream")
def _():
    with client.chat.completions.stream(model=MODEL, messages=ask, response_format=Weather) as stream:
        for _event in stream:
            pass
        return stream.get_final_completion().choices[0].message.parsed, ANSWER


@cell("openai", "tools of chat.completions")
def _():
    done = client.chat.completions.parse(model=MODEL, messages=ask, tools=tools)
    calls = done.choices[0].message.tool_calls
    messages = [*ask, done.choices[0].message.to_dict()]
    for call in calls:
        city = json.loads(call.function.arguments)["city"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"sunny in {city}"})
    return client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0].message.content, FINAL


@cell("openai", "responses.create")
def _():
    return client.responses.create(model=MODEL, input="Weather?").output_text, TEXT


@cell("openai", "responses.parse")
def _():
    return client.responses.parse(model=MODEL, input="Weather?", text_format=Weather).output_parsed, ANSWER


@cell("openai", "responses.stream")
def _():
    with client.responses.stream(model=MODEL, input="Weather?", text_format=Weather) as stream:
        for _event in stream:
            pass
        return stream.get_final_response().output_parsed, ANSWER


@cell("openai", "AsyncOpenAI")
async def _():
    async with openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0) as other:
        return (await other.chat.completions.create(model=MODEL, messages=ask)).choices[0].message.content, TEXT


@cell("openai", "models.list")
def _():
    return "script/demo" in [model.id for model in client.models.list()], True


@cell("anthropic", "messages.create")
def _():
    return claude.messages.create(**said).content[0].text, TEXT


@cell("anthropic", "messages.stream with thinking")
def _():
    with claude.messages.stream(**said, thinking={"type": "enabled", "budget_tokens": 1024}) as stream:
        text = "".join(stream.text_stream)
        return [text, stream.get_final_message().content[0].type], [TEXT, "thinking"]


@cell("anthropic", "messages.parse")
def _():
    return claude.messages.parse(**said, output_format=Weather).parsed_output, ANSWER


@beta_tool
def weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: the city
    """
    return f"sunny in {city}"


@cell("anthropic", "tool_runner")
def _():
    return claude.beta.messages.tool_runner(**said, tools=[weather]).until_done().content[0].text, FINAL


@cell("anthropic", "tool_runner, streamed")
def _():
    last = None
    for stream in claude.beta.messages.tool_runner(**said, tools=[weather], stream=True):
        last = stream.get_final_message()
    return last.content[0].text, FINAL


@cell("anthropic", "messages.count_tokens")
def _():
    return claude.messages.count_tokens(model=MODEL, messages=ask).input_tokens > 0, True


@cell("anthropic", "models.list")
def _():
    return "script/demo" in [model.id for model in claude.models.list()], True


run()
