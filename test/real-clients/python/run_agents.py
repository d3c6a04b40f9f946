from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from cells import ANSWER, FINAL, KEY, MODEL, TEXT, URL, Weather, cell, run
from openai import AsyncOpenAI

set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """Tells the weather."""
    return f"sunny in {city}"


def add(kind, build):
    def agent(**more):
        model = build(model=MODEL, openai_client=AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY, max_retries=0))
        return Agent(name="Forecaster", model=model, model_settings=ModelSettings(store=False), **more)

    @cell("openai-agents", f"{kind}: run")
    async def _():
        return (await Runner.run(agent(), "Weather?")).final_output, TEXT

    @cell("openai-agents", f"{kind}: output_type")
    async def _():
        return (await Runner.run(agent(output_type=Weather), "Weather?")).final_output.model_dump(), ANSWER.model_dump()

    @cell("openai-agents", f"{kind}: tools")
    async def _():
        return (await Runner.run(agent(tools=[weather]), "Weather?")).final_output, FINAL

    @cell("openai-agents", f"{kind}: tools, streamed")
    async def _():
        result = Runner.run_streamed(agent(tools=[weather]), "Weather?")
        async for _event in result.stream_events():
            pass
        return result.final_output, FINAL


add("chat", OpenAIChatCompletionsModel)
add("responses", OpenAIResponsesModel)
run()
