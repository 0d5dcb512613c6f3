// The parts of the platforms' formats that the files in deploy use, written by hand from their references. They are closed, so a
// misspelt field is refused. They do not show that the platform accepts a file.

const text = { type: 'string', minLength: 1 }
const count = { type: 'integer', minimum: 1 }
const closed = (properties: object, ...required: string[]) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const list = (items: object) => ({ type: 'array', minItems: 1, items })
const mapOf = (names: string, each: object) => ({
  type: 'object',
  propertyNames: { pattern: names },
  additionalProperties: each,
})

/** @see https://devcenter.heroku.com/articles/app-json-schema */
export const HEROKU = closed(
  {
    name: text,
    description: text,
    keywords: list(text),
    stack: { enum: ['heroku-22', 'heroku-24'] },
    buildpacks: list(closed({ url: text }, 'url')),
    addons: list(closed({ plan: text, as: text, options: { type: 'object' } }, 'plan')),
    formation: mapOf(
      '^[a-z]+$',
      closed(
        {
          quantity: { type: 'integer', minimum: 0 },
          size: { enum: ['eco', 'basic', 'standard-1x', 'standard-2x', 'performance-m', 'performance-l'] },
        },
        'quantity',
        'size',
      ),
    ),
    env: mapOf(
      '^[A-Z][A-Z0-9_]*$',
      closed(
        {
          description: text,
          value: { type: 'string' },
          required: { type: 'boolean' },
          generator: { const: 'secret' },
        },
        'description',
      ),
    ),
  },
  'name',
)

const flyDuration = { type: 'string', pattern: '^\\d+(ms|s|m)$' }
const flyCheck = {
  interval: flyDuration,
  timeout: flyDuration,
  grace_period: flyDuration,
  path: { type: 'string', pattern: '^/' },
}

/** @see https://fly.io/docs/reference/configuration/ */
export const FLY = closed(
  {
    app: { type: 'string', pattern: '^[a-z0-9-]+$' },
    primary_region: { type: 'string', pattern: '^[a-z]{3}$' },
    kill_signal: { enum: ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] },
    // Seconds. The platform has a maximum of 5 minutes.
    kill_timeout: { type: 'integer', minimum: 1, maximum: 300 },
    deploy: closed({ release_command: text }),
    processes: mapOf('^[a-z]+$', text),
    env: mapOf('^[A-Z][A-Z0-9_]*$', { type: 'string' }),
    http_service: closed(
      {
        processes: list(text),
        internal_port: count,
        force_https: { type: 'boolean' },
        auto_stop_machines: { enum: ['off', 'stop', 'suspend'] },
        auto_start_machines: { type: 'boolean' },
        min_machines_running: { type: 'integer', minimum: 0 },
        concurrency: closed({
          type: { enum: ['connections', 'requests'] },
          soft_limit: count,
          hard_limit: count,
        }),
        checks: list(closed({ ...flyCheck, method: { enum: ['GET', 'HEAD'] } }, 'path')),
      },
      'internal_port',
    ),
    checks: mapOf(
      '^[a-z]+$',
      closed(
        {
          ...flyCheck,
          processes: list(text),
          type: { enum: ['http', 'tcp'] },
          method: { enum: ['get'] },
          port: count,
        },
        'type',
        'port',
      ),
    ),
    metrics: closed({ processes: list(text), port: count, path: text }, 'port', 'path'),
    vm: list(
      closed({
        processes: list(text),
        cpu_kind: { enum: ['shared', 'performance'] },
        cpus: { enum: [1, 2, 4, 8, 16] },
        memory: { type: 'string', pattern: '^\\d+(mb|gb)$' },
      }),
    ),
  },
  'app',
)

const renderSource = closed(
  { type: { enum: ['web', 'keyvalue'] }, name: text, envVarKey: text, property: text },
  'type',
  'name',
)
const renderVariable = {
  oneOf: [
    closed({ key: text, value: text }, 'key', 'value'),
    closed({ key: text, sync: { const: false } }, 'key', 'sync'),
    closed({ key: text, generateValue: { const: true } }, 'key', 'generateValue'),
    closed({ key: text, fromService: renderSource }, 'key', 'fromService'),
  ],
}
const renderDocker = {
  name: text,
  runtime: { const: 'docker' },
  plan: { enum: ['starter', 'standard', 'pro', 'pro plus', 'pro max', 'pro ultra'] },
  dockerfilePath: text,
  dockerCommand: text,
  preDeployCommand: text,
  maxShutdownDelaySeconds: { type: 'integer', minimum: 1, maximum: 300 },
  envVars: list(renderVariable),
}

/** @see https://render.com/docs/blueprint-spec */
export const RENDER = closed(
  {
    services: list({
      oneOf: [
        closed(
          { ...renderDocker, type: { const: 'web' }, healthCheckPath: { type: 'string', pattern: '^/' } },
          'type',
          'name',
          'runtime',
        ),
        closed({ ...renderDocker, type: { const: 'worker' } }, 'type', 'name', 'runtime'),
        closed(
          {
            type: { const: 'keyvalue' },
            name: text,
            plan: { enum: ['free', 'starter', 'standard', 'pro', 'pro plus'] },
            ipAllowList: { type: 'array' },
            maxmemoryPolicy: { enum: ['noeviction', 'allkeys-lru', 'volatile-lru', 'volatile-ttl'] },
          },
          'type',
          'name',
          'ipAllowList',
        ),
      ],
    }),
  },
  'services',
)

/** @see https://docs.railway.com/config-as-code/reference */
export const RAILWAY = closed(
  {
    $schema: { const: 'https://railway.com/railway.schema.json' },
    build: closed({ builder: { enum: ['RAILPACK', 'DOCKERFILE'] }, dockerfilePath: text }),
    deploy: closed({
      startCommand: text,
      preDeployCommand: list(text),
      healthcheckPath: { type: 'string', pattern: '^/' },
      healthcheckTimeout: count,
      restartPolicyType: { enum: ['ON_FAILURE', 'ALWAYS', 'NEVER'] },
      drainingSeconds: count,
    }),
  },
  'build',
  'deploy',
)
