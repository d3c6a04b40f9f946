import type { GatewayError } from '../../gateway-error.ts';

/** Receives the features that only upstreams of this format support. Those get the request unchanged. */
export type ReportForwardOnly = (fault: GatewayError) => void;

export const CHAT_ONLY = 'only providers with the format chat-completions support it';
