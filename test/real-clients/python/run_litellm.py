import json

import litellm
from cells import ANSWER, FINAL, KEY, MODEL, PARAMETERS, TEXT, URL, Weather, cell, run

litellm.suppress_debug_info = True
litellm.telemetry = False
ask = [{"role": "user", "content": "Weather?"}]
tools = [{"type": "function", "function": {"name": "weather", "description": "Tells it", "parameters": PARAMETERS}}]


def add(prefix, base):
    about = {"model": f"{prefix}/{MODEL}", "api_base": base, "api_key": KEY, "num_retries": 0, "max_tokens": 5000}

    @cell("litellm", f"{prefix}: completion")
    def _():
        return litellm.completion(messages=ask, **about).choices[0].message.content, TEXT

    @cell("litellm", f"{prefix}: completion, streamed")
    def _():
        chunks = litellm.completion(messages=ask, stream=True, **about)
        return "".join(c.choices[0].delta.content or "" for c in chunks), TEXT

    @cell("litellm", f"{prefix}: acompletion")
    async def _():
        return (await litellm.acompletion(messages=ask, **about)).choices[0].message.content, TEXT

    @cell("litellm", f"{prefix}: response_format")
    def _():
        text = litellm.completion(messages=ask, response_format=Weather, **about).choices[0].message.content
        return Weather.model_validate_json(text), ANSWER

    @cell("litellm", f"{prefix}: tools")
    def _():
        message = litellm.completion(messages=ask, tools=tools, **about).choices[0].message
        messages = [*ask, message.model_dump(exclude_none=True)]
        for call in message.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"sunny in {city}"})
        return litellm.completion(messages=messages, tools=tools, **about).choices[0].message.content, FINAL


add("openai", f"{URL}/v1")
add("litellm_proxy", f"{URL}/v1")
add("anthropic", URL)


@cell("litellm", "openai: responses")
def _():
    done = litellm.responses(model=f"openai/{MODEL}", input="Weather?", api_base=f"{URL}/v1", api_key=KEY)
    texts = [part.text for item in done.output if item.type == "message" for part in item.content]
    return "".join(texts), TEXT


run()
