/** The version in `GET /` and in the OpenAPI document. */
export const GATEWAY_VERSION = '0.1.0';
