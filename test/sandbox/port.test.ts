import { openLocalSandboxes } from '../support/sandbox.ts';
import { describeSandboxes } from '../support/sandbox-suite.ts';

// On Kubernetes: test/cluster/sandbox.test.ts.
describeSandboxes('process', () => openLocalSandboxes());
