import { buildAgentsDocument } from '../agents/contract/document.ts';
import { buildInferenceDocument } from '../gateway/contract/document.ts';
import { buildLoginDocument } from '../login/contract/routes.ts';
import { buildVideoDocument } from '../video/contract/routes.ts';

/** The OpenAPI document of each product. */
export const SERVICE_DOCUMENTS = {
  agents: buildAgentsDocument,
  inference: buildInferenceDocument,
  video: buildVideoDocument,
  login: buildLoginDocument,
};
