-- Where the sandboxes of an agent's sessions run: the SandboxClass of Kubernetes.
ALTER TABLE agent_versions ADD COLUMN environment jsonb;
