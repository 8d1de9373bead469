export const image = { repository: 'registry.example/ugs' }
const databaseUrl = 'postgres://ugs:do-not-show@db.example/ugs'
export const extra = {
  certificateAuthority: { configMap: 'database-ca' },
  extraVolumes: [{ name: 'policy', configMap: { name: 'policy' } }],
  extraVolumeMounts: [{ name: 'policy', mountPath: '/etc/policy' }],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
  priorityClassName: 'high',
  podLabels: { team: 'a' },
  podAnnotations: { 'example/scrape': 'yes' },
  topologySpreadConstraints: [
    {
      ...{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' },
      labelSelector: { matchLabels: { a: 'b' } },
    },
  ],
}
export const allValues = {
  'with an existing Secret': { image, secret: { existing: 'keys' } },
  'with all values set': {
    image: { ...image, tag: '1.2.3', pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'pull' }],
    secret: { databaseUrl, secretKeys: 'k1:do-not-show' },
    stop: { drain: 6, finish: 12 },
    migration: { timeout: 700 },
    resources: { limits: { memory: '1Gi' } },
    temporaryStorage: '2Gi',
    disruptionBudget: { minAvailable: 2 },
    service: { type: 'NodePort', port: 8080, annotations: { 'example/internal': 'yes' } },
    settings: { LOG_LEVEL: 'debug', UGS_POSTGRES_POOL_SIZE: '5', OTEL_TRACES_SAMPLER_ARG: '0.01' },
    networkPolicy: {
      from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      database: { to: [{ ipBlock: { cidr: '192.0.2.1/32' } }], port: 6432 },
      webhooks: true,
      extraEgress: [{ to: [{ ipBlock: { cidr: '192.0.2.2/32' } }], ports: [{ port: 3128 }] }],
    },
    ingress: {
      enabled: true,
      className: 'a',
      annotations: { a: 'b' },
      host: 'ugs.example',
      tlsSecret: 'tls',
    },
    metrics: {
      enabled: true,
      port: 9000,
      from: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    },
    autoscaling: { enabled: true, maxReplicas: 9, targetCpu: 60 },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
    configuration: {
      customer: { version: 1, api_tokens: [{ name: 'backend', scopes: ['write'], token_env: 'BACKEND' }] },
      testing: { version: 1, schemas: [] },
      tokens: 'ugs-tokens',
    },
  },
  'with files, placement and labels': {
    image,
    secret: { existing: 'url', keysFile: 'keys' },
    replicas: 3,
    ...extra,
  },
  'with SQLite': { image, secret: { secretKeys: 'k1:do-not-show' }, sqlite: { enabled: true } },
  'with SQLite and a key file': {
    image,
    secret: { keysFile: 'keys' },
    sqlite: {
      ...{ enabled: true, size: '1Gi', storageClass: 'fast' },
      backup: { schedule: '@daily', keep: 7, size: '2Gi', storageClass: 'slow' },
    },
    ...extra,
  },
  'with SQLite without backups': {
    image,
    secret: { existing: 'keys' },
    sqlite: { enabled: true, backup: { enabled: false } },
    networkPolicy: { enabled: false },
    autoscaling: { enabled: true },
  },
  'with everything disabled': {
    image,
    secret: { existing: 'keys' },
    migration: { enabled: false },
    networkPolicy: { enabled: false },
    metrics: { podMonitor: { enabled: true } },
  },
}

/** The values that each snapshot is compared with. The first snapshot is whole. */
export const baseOf: Partial<Record<string, keyof typeof allValues>> = {
  'with all values set': 'with an existing Secret',
  'with files, placement and labels': 'with an existing Secret',
  'with everything disabled': 'with an existing Secret',
  'with SQLite without backups': 'with everything disabled',
  'with SQLite': 'with SQLite without backups',
  'with SQLite and a key file': 'with SQLite',
}
