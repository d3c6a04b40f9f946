-- What the session's MCP servers were like in its latest turn: [{ name, status, reason }].
ALTER TABLE sessions ADD COLUMN mcp_servers jsonb NOT NULL DEFAULT '[]';
