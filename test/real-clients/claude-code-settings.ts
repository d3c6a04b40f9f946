/** The environment in which Claude Code uses a model of the gateway, and nothing else. */
export function buildClaudeEnvironment(gateway: { url: string; key: string }, model: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: gateway.url,
    ANTHROPIC_AUTH_TOKEN: gateway.key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Without it root may not skip permission prompts.
    IS_SANDBOX: '1',
  };
}
