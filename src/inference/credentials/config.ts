import { z } from 'zod';

const Variable = z.string().min(1);

/** What names a place at a cloud. */
export const AwsRegion = z.string().regex(/^[a-z0-9-]{1,50}$/, 'must be a region such as us-east-1');
export const GoogleProject = z.string().regex(/^[a-z0-9.:-]{1,100}$/, 'must be the id of a project');
export const GoogleLocation = z
  .string()
  .regex(/^[a-z0-9-]{1,50}$/, 'must be a location such as europe-west4')
  .default('global');

/** Credentials of AWS; absent keys: the default chain of the AWS SDKs (environment, profile, web identity, instance). */
export const AwsAccess = z
  .strictObject({
    region: AwsRegion,
    accessKeyId: z.string().min(1).optional(),
    secretAccessKey: z.string().min(1).optional(),
    sessionToken: z.string().min(1).optional(),
    /** names of the environment variables with these values */
    accessKeyIdEnv: Variable.optional(),
    secretAccessKeyEnv: Variable.optional(),
    sessionTokenEnv: Variable.optional(),
  })
  .refine(
    ({ accessKeyId, accessKeyIdEnv, secretAccessKey, secretAccessKeyEnv }) =>
      ((accessKeyId ?? accessKeyIdEnv) === undefined) === ((secretAccessKey ?? secretAccessKeyEnv) === undefined),
    { path: ['secretAccessKeyEnv'], message: 'accessKeyId and secretAccessKey must be set together' },
  );
export type AwsAccess = z.infer<typeof AwsAccess>;

/**
 * Access to Vertex AI. Without credentials: the application default ones (`GOOGLE_APPLICATION_CREDENTIALS`, gcloud, the
 * metadata server).
 */
export const GoogleAccess = z
  .strictObject({
    project: GoogleProject,
    location: GoogleLocation,
    /** path of a service account's key, or of another file that Google's libraries read */
    credentialsFile: z.string().min(1).optional(),
    /** the content of such a file */
    credentials: z.string().min(1).optional(),
    /** name of the environment variable that holds it */
    credentialsEnv: Variable.optional(),
  })
  .refine(
    (access) =>
      [access.credentialsFile, access.credentials, access.credentialsEnv].filter((each) => each !== undefined).length <=
      1,
    { path: ['credentialsFile'], message: 'only one of credentialsFile, credentials and credentialsEnv may be set' },
  );
export type GoogleAccess = z.infer<typeof GoogleAccess>;
