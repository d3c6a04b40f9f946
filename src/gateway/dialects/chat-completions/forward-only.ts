import type { GatewayError } from '../../gateway-error.ts';

/** Receives what only upstreams of this format support; they get the request unchanged. */
export type ReportForwardOnly = (fault: GatewayError) => void;

export const CHAT_ONLY = 'only providers with the format chat-completions support it';
