// Rules for the rendered Helm chart, in addition to the Kubernetes schemas. npm run check:chart applies them.

/** Lists the faults of rendered resources. `variables` is deploy/helm/variables.json. */
export function findChartFaults(resources, variables) {
  const workloads = resources.filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
  return [
    ...workloads.flatMap(findPodFaults),
    ...workloads.flatMap((workload) => findVariableFaults(workload, variables)),
    ...resources.flatMap((resource) => findReferenceFaults(resource, resources)),
    ...resources.flatMap((resource) => findPolicyFaults(resource, workloads)),
  ];
}

/**
 * Checks that pods run as an ordinary user, on a read-only file system, without a Kubernetes API token, and with limited memory. Pods of
 * Deployments also need probes and enough time to stop.
 */
function findPodFaults({ kind, metadata, spec }) {
  const pod = spec.template.spec;
  const rules = {
    'must not run as root': pod.securityContext.runAsNonRoot && pod.securityContext.runAsUser > 0,
    'must use the default seccomp profile': pod.securityContext.seccompProfile.type === 'RuntimeDefault',
    'must not mount a service account token': pod.automountServiceAccountToken === false,
    'must stop before Kubernetes kills it': kind === 'Job' || stopsInTime(pod),
    'must keep the logs of a failed attempt': kind !== 'Job' || pod.restartPolicy === 'Never',
  };
  for (const container of pod.containers) {
    const { securityContext: security = {}, resources } = container;
    Object.assign(rules, {
      [`${container.name} must not gain privileges`]: security.allowPrivilegeEscalation === false,
      [`${container.name} must have a read-only root file system`]: security.readOnlyRootFilesystem === true,
      [`${container.name} must drop all capabilities`]: security.capabilities?.drop.includes('ALL'),
      [`${container.name} must request CPU and memory, and limit memory`]:
        resources.requests.cpu && resources.requests.memory && resources.limits.memory,
      [`${container.name} must have probes`]: kind === 'Job' || hasProbes(container),
    });
  }
  return listBroken(rules).map((rule) => `${kind} ${metadata.name} ${rule}`);
}

function hasProbes({ startupProbe, livenessProbe, readinessProbe, ports }) {
  return [startupProbe, livenessProbe, readinessProbe].every((probe) =>
    ports.some(({ name }) => name === probe?.httpGet.port),
  );
}

// A stopping service exits after this time at the latest (libs/service).
const stopSeconds = 25;

function stopsInTime({ terminationGracePeriodSeconds: grace, containers }) {
  const waits = containers.map(({ lifecycle }) => lifecycle?.preStop.sleep.seconds ?? 0);
  return grace >= Math.max(...waits) + stopSeconds + 2;
}

/** Checks that every container gets all required variables of its service, and no variable that the service does not read. */
function findVariableFaults({ kind, metadata, spec }, { services, roles }) {
  return spec.template.spec.containers.flatMap(({ name, env }) => {
    const known = services[name]
      ? [...services[name].plain, ...Object.keys(services[name].secret)]
      : ['DATABASE_URL', ...roles];
    const required = services[name]?.required ?? known;
    const given = env.map((variable) => variable.name);
    return [
      ...given
        .filter((variable) => !known.includes(variable))
        .map((variable) => `${variable} is not a variable`),
      ...required.filter((variable) => !given.includes(variable)).map((variable) => `${variable} is missing`),
      ...given
        .filter((variable, index) => given.indexOf(variable) < index)
        .map((variable) => `${variable} is set twice`),
    ].map((fault) => `${kind} ${metadata.name}: ${fault}`);
  });
}

/** Checks that selectors match pods, and that references name existing resources. */
function findReferenceFaults({ kind, metadata, spec }, resources) {
  const pods = resources.flatMap((resource) => resource.spec?.template?.metadata ?? []);
  const selects = (labels) =>
    pods.some((pod) => Object.entries(labels).every(([name, value]) => pod.labels[name] === value));
  const exists = (wanted, name) =>
    resources.some((resource) => resource.kind === wanted && resource.metadata.name === name);
  const account = spec?.template?.spec.serviceAccountName;
  const selector = kind === 'Service' ? spec.selector : (spec?.selector ?? spec?.podSelector)?.matchLabels;
  const rules = {
    'selects no pod': !selector || selects(selector),
    'names a missing service account': !account || exists('ServiceAccount', account),
    'scales a missing Deployment':
      kind !== 'HorizontalPodAutoscaler' || exists('Deployment', spec.scaleTargetRef.name),
    'is defined more than once':
      resources.filter((other) => other.kind === kind && other.metadata.name === metadata.name).length === 1,
  };
  return listBroken(rules).map((rule) => `${kind} ${metadata.name} ${rule}`);
}

/** Checks that the network policy of a hook's pods is an earlier hook. Otherwise, an upgrade could not correct the policy in time. */
function findPolicyFaults({ kind, metadata, spec }, workloads) {
  if (kind !== 'NetworkPolicy') return [];
  const labels = Object.entries(spec.podSelector.matchLabels);
  const selected = workloads.filter(({ spec: { template } }) =>
    labels.every(([name, value]) => template.metadata.labels[name] === value),
  );
  return selected
    .filter((workload) => !(hookWeight(metadata) < hookWeight(workload.metadata)))
    .filter((workload) => hookWeight(workload.metadata) < Infinity)
    .map((workload) => `NetworkPolicy ${metadata.name} must be a hook before ${workload.metadata.name}`);
}

/** The position among the hooks. Resources that are no hooks come last. */
function hookWeight({ annotations = {} }) {
  return 'helm.sh/hook' in annotations ? Number(annotations['helm.sh/hook-weight'] ?? 0) : Infinity;
}

function listBroken(rules) {
  return Object.keys(rules).filter((rule) => !rules[rule]);
}
