from cells import ANSWER, FINAL, KEY, MODEL, TEXT, URL, Weather, cell, run
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def weather(city: str) -> str:
    """Tells the weather."""
    return f"sunny in {city}"


def add(kind, open_model):
    @cell("pydantic-ai-slim", f"{kind}: run")
    async def _():
        return (await Agent(open_model()).run("Weather?")).output, TEXT

    @cell("pydantic-ai-slim", f"{kind}: run_stream")
    async def _():
        async with Agent(open_model()).run_stream("Weather?") as result:
            return await result.get_output(), TEXT

    outputs = [("ToolOutput", ToolOutput(Weather))]
    # The client allows it for Anthropic's own model names only.
    if kind != "messages":
        outputs.append(("NativeOutput", NativeOutput(Weather)))
    for name, output in outputs:

        @cell("pydantic-ai-slim", f"{kind}: {name}")
        async def _(output=output):
            return (await Agent(open_model(), output_type=output).run("Weather?")).output, ANSWER

    @cell("pydantic-ai-slim", f"{kind}: tools")
    async def _():
        return (await Agent(open_model(), tools=[weather]).run("Weather?")).output, FINAL


def openai_provider():
    return OpenAIProvider(base_url=f"{URL}/v1", api_key=KEY)


add("chat", lambda: OpenAIChatModel(MODEL, provider=openai_provider()))
add("responses", lambda: OpenAIResponsesModel(MODEL, provider=openai_provider()))
add("messages", lambda: AnthropicModel(MODEL, provider=AnthropicProvider(base_url=URL, api_key=KEY)))
run()
