from cells import ANSWER, FINAL, KEY, MODEL, TEXT, URL, Weather, cell, run
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"sunny in {city}"


def text_of(message):
    return message.text if isinstance(message.text, str) else message.text()


def add(client, kind, open_model):
    @cell(client, f"{kind}: invoke")
    def _():
        return text_of(open_model().invoke("Weather?")), TEXT

    @cell(client, f"{kind}: stream")
    def _():
        return "".join(text_of(chunk) for chunk in open_model().stream("Weather?")), TEXT

    @cell(client, f"{kind}: ainvoke")
    async def _():
        return text_of(await open_model().ainvoke("Weather?")), TEXT

    for method in ("json_schema", "function_calling"):

        @cell(client, f"{kind}: with_structured_output, {method}")
        def _(method=method):
            return open_model().with_structured_output(Weather, method=method).invoke("Weather?"), ANSWER

    @cell(client, f"{kind}: bind_tools")
    def _():
        model = open_model().bind_tools([weather])
        messages = [HumanMessage("Weather?")]
        first = model.invoke(messages)
        messages.append(first)
        for call in first.tool_calls:
            messages.append(ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"]))
        return text_of(model.invoke(messages)), FINAL


def open_chat(**more):
    return ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY, max_retries=0, **more)


add("langchain-openai", "chat", open_chat)
add("langchain-openai", "responses", lambda: open_chat(use_responses_api=True, store=False))
add(
    "langchain-anthropic",
    "messages",
    lambda: ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_retries=0, max_tokens=5000),
)
run()
