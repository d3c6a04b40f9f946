/** What `GET /` and the OpenAPI document say. */
export const GATEWAY_VERSION = '0.1.0';
