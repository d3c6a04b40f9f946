"""Creates an agent and a session, runs a turn, and lists its events page by page with the generated client.

Prints one JSON line for each event: its type, the class of its payload, and what the payload says. mypy checks this file,
so each field that is read here has a type in the client.
"""

import json
import os
import time
from collections.abc import Iterator

from capstan_client import AuthenticatedClient
from capstan_client.api.agents import create_agent
from capstan_client.api.events import list_events, send_events
from capstan_client.api.sessions import create_session
from capstan_client.models.agent import Agent
from capstan_client.models.agent_create import AgentCreate
from capstan_client.models.agent_message import AgentMessage
from capstan_client.models.agent_tool_result import AgentToolResult
from capstan_client.models.agent_tool_use import AgentToolUse
from capstan_client.models.agent_toolset import AgentToolset
from capstan_client.models.agent_toolset_default_config import AgentToolsetDefaultConfig
from capstan_client.models.event_envelope import EventEnvelope
from capstan_client.models.event_list import EventList
from capstan_client.models.events_accepted import EventsAccepted
from capstan_client.models.events_send import EventsSend
from capstan_client.models.error_body import ErrorBody
from capstan_client.models.list_events_attachments import ListEventsAttachments
from capstan_client.models.message_attachment import MessageAttachment
from capstan_client.models.message_attachment_media_type import MessageAttachmentMediaType
from capstan_client.models.message_attachment_source import MessageAttachmentSource
from capstan_client.models.permission_policy import PermissionPolicy
from capstan_client.models.permission_policy_type import PermissionPolicyType
from capstan_client.models.session import Session
from capstan_client.models.session_create import SessionCreate
from capstan_client.models.session_status_idle import SessionStatusIdle
from capstan_client.models.stop_end_turn import StopEndTurn
from capstan_client.models.text_block import TextBlock
from capstan_client.models.user_message import UserMessage
from capstan_client.models.user_message_listed import UserMessageListed

PAGE = 2

client = AuthenticatedClient(
    base_url=os.environ["CAPSTAN_URL"],
    token=os.environ["CAPSTAN_API_KEY"],
    prefix="",
    auth_header_name="x-api-key",
)


def open_session() -> str:
    policy = PermissionPolicy(type_=PermissionPolicyType.ALWAYS_ALLOW)
    tools = AgentToolset(
        type_="agent_toolset",
        default_config=AgentToolsetDefaultConfig(permission_policy=policy),
    )
    agent = create_agent.sync(
        client=client,
        body=AgentCreate(
            name="Ada", model_name=os.environ["MODEL"], system_prompt="Be brief.", skills=[], tools=[tools]
        ),
    )
    assert isinstance(agent, Agent), agent
    session = create_session.sync(client=client, body=SessionCreate(agent_id=agent.id, subject_id="ada", title="Test"))
    assert isinstance(session, Session), session
    return session.id


def read_events(session_id: str, attachments: ListEventsAttachments) -> Iterator[EventEnvelope]:
    after = 0
    while True:
        page = list_events.sync(session_id, client=client, after=after, limit=PAGE, attachments=attachments)
        assert isinstance(page, EventList), page
        yield from page.data
        if not page.pagination.has_more:
            return
        after = page.pagination.after


def join(content: list[TextBlock]) -> str:
    return "".join(block.text for block in content)


def describe(event: EventEnvelope) -> str:
    payload = event.payload
    if isinstance(payload, UserMessage):
        files = [attachment.source.data_url for attachment in payload.attachments or []]
        return f"{join(payload.content)} {files}"
    if isinstance(payload, UserMessageListed):
        names = [attachment.filename for attachment in payload.attachments or []]
        return f"{join(payload.content)} {names}"
    if isinstance(payload, AgentToolUse):
        return payload.name
    if isinstance(payload, AgentToolResult):
        return "failed" if payload.is_error else "done"
    if isinstance(payload, AgentMessage):
        return join(payload.content)
    if isinstance(payload, SessionStatusIdle):
        return "end of turn" if isinstance(payload.stop_reason, StopEndTurn) else "stopped"
    return ""


def print_line(type_: str, payload: object, says: str) -> None:
    print(json.dumps({"type": type_, "payload": type(payload).__name__, "says": says}))


def main() -> None:
    session_id = open_session()
    note = MessageAttachment(
        type_="file",
        filename="note.txt",
        media_type=MessageAttachmentMediaType.TEXTPLAIN,
        source=MessageAttachmentSource(type_="data_url", data_url="data:text/plain;base64,aGk="),
    )
    content = [TextBlock(type_="text", text="Go.")]
    prompt = UserMessage(type_="user.message", content=content, attachments=[note])
    accepted = send_events.sync(session_id, client=client, body=EventsSend(events=[prompt]))
    assert isinstance(accepted, EventsAccepted), accepted
    ended = False
    while not ended:
        events = list(read_events(session_id, ListEventsAttachments.OMIT))
        ended = any(isinstance(event.payload, SessionStatusIdle) for event in events)
        time.sleep(0 if ended else 0.1)
    first = next(read_events(session_id, ListEventsAttachments.INCLUDE))
    for event in [first, *events]:
        print_line(event.type_, event.payload, describe(event))
    refused = list_events.sync("ses_none", client=client)
    assert isinstance(refused, ErrorBody), refused
    print_line("error", refused, refused.error)


if __name__ == "__main__":
    main()
