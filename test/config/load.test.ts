import { expect } from 'chai'
import {
  type Config,
  ConfigError,
  describeVariables,
  loadConfig,
  streamedMaxBytes,
} from '../../config/load.ts'
import { usableCores } from '../../config/machine.ts'
import { coresOf } from '../../config/memory-profile.ts'
import { VARIABLES } from '../../config/schema.ts'
import { telemetrySettings, telemetryWarnings } from '../../config/telemetry.ts'
import { PART_BYTES } from '../../src/adapters/bucket/s3/upload.ts'
import { REDIS_URL_FORMS } from '../../src/core/net/redis-url.ts'

const PUBLIC = 'pub_0123456789'
const SECRET = 'sec_0123456789abcdef'

const PROXIES =
  'the number of proxies from 0 to 10, or their IP ranges like 10.0.0.0/8, separated by spaces or commas'

/** The three variables of a rate limit. */
function rates(name: string, points: number, addressPoints: number, seconds: number) {
  return {
    [`${name}_RATE_LIMIT`]: points,
    [`${name}_RATE_LIMIT_PER_IP`]: addressPoints,
    [`${name}_RATE_WINDOW_SECONDS`]: seconds,
  }
}

/** The lines of the error that an environment ends in; none when it is accepted. */
function complaints(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment)
    return []
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError)
    return (error as ConfigError).message.split('\n')
  }
}

describe('configuration', () => {
  it('reports a missing WEBHOOK_SECRET together with all other errors', () => {
    expect(() => loadConfig({ PORT: 'abc', WEBHOOK_URL: 'https://example.com/x' })).to.throw(
      /^PORT: .*\nWEBHOOK_SECRET: required with WEBHOOK_URL, but unset$/,
    )
  })

  it('has lower defaults of memory with MEMORY_PROFILE=small, unless a variable is set', () => {
    const small = loadConfig({ MEMORY_PROFILE: 'small', TRANSFORM_WAITING: '300' })
    expect(small).to.deep.include({
      HOT_CACHE_BYTES: 8_000_000,
      TRANSFORM_MAX_MEMORY_BYTES: 250_000_000,
      MEDIA_MAX_MEMORY_BYTES: 250_000_000,
      DOCUMENT_CONCURRENCY: 1,
      TRANSFORM_WAITING: 300,
      TRANSFORM_WAITING_ADDRESS: 16,
    })
    expect(coresOf(small)).to.equal(1)
    expect(coresOf(loadConfig({}))).to.equal(usableCores())
    // A container of 256 MB has less than the profile.
    const { TRANSFORM_MAX_MEMORY_BYTES: bytes } = loadConfig(
      { MEMORY_PROFILE: 'small' },
      { memoryBytes: 2 ** 28 },
    )
    expect(bytes).to.equal(200_000_000)
    expect(complaints({ MEMORY_PROFILE: 'tiny' })).to.deep.equal([
      'MEMORY_PROFILE: expected one of standard, small, received "tiny"',
    ])
  })

  it('exports to OpenTelemetry as its standard variables state', () => {
    const settings = (environment: Record<string, string>) => telemetrySettings(loadConfig(environment))
    const base = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
    for (const off of [
      {},
      { OTEL_SERVICE_NAME: 'a' },
      { ...base, OTEL_SDK_DISABLED: 'TRUE' },
      { ...base, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
    ])
      expect(settings(off)).to.equal(undefined)
    expect(settings(base)).to.deep.equal({
      traces: { url: 'http://collector:4318/v1/traces', headers: {} },
      metrics: { url: 'http://collector:4318/v1/metrics', headers: {} },
      serviceName: 'sluice',
      resourceAttributes: {},
      sampler: 'parentbased_always_on',
      samplerRatio: 1,
      metricsEveryMs: 60_000,
    })
    expect(
      settings({
        ...base,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in',
        OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%3Dy',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=files, env=prod',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).to.deep.include({
      traces: { url: 'https://traces.example.com/in', headers: { a: '2', b: 'x=y' } },
      metrics: { url: 'http://collector:4318/v1/metrics', headers: { a: '1', b: 'x=y' } },
      serviceName: 'files',
      resourceAttributes: { env: 'prod' },
      sampler: 'traceidratio',
      samplerRatio: 0.25,
    })
    const { traces, metrics } = settings({ OTEL_TRACES_EXPORTER: 'otlp' }) ?? {}
    expect([traces?.url, metrics]).to.deep.equal(['http://localhost:4318/v1/traces', undefined])
    expect(
      complaints({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
        OTEL_EXPORTER_OTLP_HEADERS: 'token',
      }).map((line) => line.split(':')[0]),
    ).to.deep.equal(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'])
    // A platform sets these for all containers. They are standard values, and no reason to refuse the start.
    const unsupported = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_TRACES_SAMPLER: 'parentbased_jaeger_remote',
    }
    expect(settings({ ...base, ...unsupported })).to.equal(undefined)
    expect(settings({ ...base, OTEL_METRICS_EXPORTER: 'prometheus' })?.metrics).to.equal(undefined)
    expect(telemetryWarnings(unsupported).map((line) => line.split(' ')[0])).to.deep.equal(
      Object.keys(unsupported),
    )
    expect(telemetryWarnings({ ...unsupported, OTEL_SDK_DISABLED: 'true' })).to.deep.equal([])
  })

  it('has a default for every required variable', () => {
    expect(loadConfig({})).to.deep.equal({
      PORT: 3000,
      HOST: '0.0.0.0',
      BROWSER_CACHE_SECONDS: 604_800,
      STALE_WHILE_REVALIDATE_SECONDS: 0,
      STALE_IF_ERROR_SECONDS: 0,
      CDN_CACHE_HEADER: 's-maxage',
      CDN_PURGE: 'off',
      CDN_PURGE_METHOD: 'PURGE',
      DATA_DIR: './data',
      DISK_RESERVE_BYTES: 33_554_432,
      UPLOAD_MAX_BYTES: 5_368_709_120,
      UPLOAD_MAX_FILES: 100,
      RESUMABLE_UPLOAD_TTL_SECONDS: 86_400,
      SEND_104: '0',
      VARIANT_LIMIT: 1000,
      DERIVATIVES_MAX_BYTES: 20_000_000_000,
      DERIVATIVES_MAX_TIMES: 50,
      OUTPUT_MAX_BYTES: 1_073_741_824,
      MEMORY_PROFILE: 'standard',
      AUTO_FORMAT: 'accept',
      IMAGE_MAX_BYTES: 40_000_000,
      VIDEO_MAX_BYTES: 4_000_000_000,
      IMAGE_MAX_PIXELS: 50_000_000,
      IMAGE_TRUNCATED: 'render',
      TRANSFORM_TIMEOUT_SECONDS: 30,
      TRANSFORM_KILL_SECONDS: 10,
      TRANSFORM_WAITING: 256,
      TRANSFORM_WAITING_ADDRESS: 64,
      TRANSFORM_WAIT_SECONDS: 30,
      TRANSFORM_MAX_MEMORY_BYTES: 1_000_000_000,
      MEDIA_MAX_MEMORY_BYTES: 1_073_741_824,
      MEDIA_TIMEOUT_SECONDS: 1800,
      MEDIA_JOBS_LIMIT: 20,
      MEDIA_JOBS_FOR: 'everyone',
      MEDIA_CONCURRENCY: 1,
      DOCUMENT_CONCURRENCY: 2,
      DOCUMENT_SANDBOX: 'required',
      DOCUMENT_TIMEOUT_SECONDS: 60,
      MEDIA_JOBS_RUN_IN: 'worker',
      UV_THREADPOOL_SIZE: 4,
      HEADERS_TIMEOUT_SECONDS: 30,
      HEADERS_MAX_BYTES: 16_384,
      IDLE_TIMEOUT_SECONDS: 120,
      UPLOAD_MIN_BYTES_PER_SECOND: 240,
      CONNECTIONS_PER_ADDRESS: 512,
      DOWNLOAD_MIN_BYTES_PER_SECOND: 1024,
      KEEP_ALIVE_SECONDS: 75,
      SHUTDOWN_DELAY_SECONDS: 3,
      SHUTDOWN_DRAIN_SECONDS: 10,
      TRUST_PROXY: 0,
      OIDC_SCOPES: 'openid email profile',
      OIDC_ROLE_CLAIM: 'groups',
      OIDC_CLIENTS: 'all',
      OIDC_UNVERIFIED_EMAIL: 'off',
      OIDC_SESSION_HOURS: 12,
      OIDC_SIGN_OUT: 'on',
      OIDC_LABEL: 'Sign in with your organisation',
      ...rates('UPLOAD', 3000, 0, 60),
      ...rates('DERIVATIVE', 6000, 1500, 60),
      ...rates('CPU', 1_800_000, 300_000, 300),
      ...rates('MEDIA', 600, 60, 600),
      ...rates('FETCH', 50, 10, 5),
      FETCH_TIMEOUT_SECONDS: 30,
      FETCH_KEEP_TIMEOUT_SECONDS: 100,
      ...rates('MEDIA', 600, 60, 600),
      ...rates('SIGN', 1000, 0, 3600),
      ...rates('ZIP', 10, 0, 60),
      ...rates('SIGN_IN', 100, 10, 300),
      S3_FORCE_PATH_STYLE: 'false',
      S3_TIMEOUT_MS: 3500,
      REDIS_TLS_VERIFY: 'true',
      INDEX_PARTITIONS: '1',
      HOT_CACHE_BYTES: 64_000_000,
      PROXY_FROM_MEGAPIXELS: 12,
      RECOMPRESS_AFTER: 0,
      FULL_CONTENT_RANGE: 'auto',
      WEBHOOK_LOG_ENTRIES: 1000,
      WEBHOOK_LOG_SECONDS: 604_800,
      WEBHOOK_RATE_LIMIT: 60,
      WEBHOOK_RATE_LIMIT_PER_IP: 0,
      WEBHOOK_RATE_WINDOW_SECONDS: 60,
      WEB_CONCURRENCY: 1,
      METRICS_HOST: '127.0.0.1',
      NO_COMPRESSION: '0',
      LOG_LEVEL: 'info',
    })
  })

  it('is frozen', () => {
    expect(loadConfig({})).to.be.frozen
  })

  it('ignores unknown variables', () => {
    expect(loadConfig({ PATH: '/bin', NODE_ENV: 'production', port: '1', toString: 'x' })).to.deep.equal(
      loadConfig({}),
    )
  })

  it('treats an empty value as unset', () => {
    const empty = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, '']))
    expect(loadConfig(empty)).to.deep.equal(loadConfig({}))
    expect(loadConfig({ PORT: undefined })).to.deep.equal(loadConfig({}))
  })

  it('reads the environment of the process by default', () => {
    const { LOG_LEVEL } = process.env
    try {
      process.env.LOG_LEVEL = 'debug'
      expect(loadConfig().LOG_LEVEL).to.equal('debug')
    } finally {
      if (LOG_LEVEL === undefined) delete process.env.LOG_LEVEL
      else process.env.LOG_LEVEL = LOG_LEVEL
    }
  })

  for (const [name, text, value] of [
    ['PORT', '0', 0],
    ['PORT', '65535', 65535],
    ['PORT', '08080', 8080],
    ['HOST', '127.0.0.1', '127.0.0.1'],
    ['HOST', '::1', '::1'],
    ['HOST', 'fe80::1%eth0', 'fe80::1%eth0'],
    ['HOST', 'files.example.com', 'files.example.com'],
    ['BASE_URL', 'https://files.example.com', 'https://files.example.com'],
    ['BASE_URL', 'http://localhost:8080/', 'http://localhost:8080'],
    ['BASE_URL', 'https://example.com/files//', 'https://example.com/files'],
    ['BASE_URL', 'HTTPS://EXAMPLE.com', 'https://example.com'],
    ['DATA_DIR', '/var/lib/sluice data', '/var/lib/sluice data'],
    ['UPLOAD_MAX_BYTES', '1', 1],
    ['UPLOAD_MAX_BYTES', '999999999999999', 999_999_999_999_999],
    ['ZIP_RATE_LIMIT', '0', 0],
    ['ZIP_RATE_LIMIT', '1', 1],
    ['TRUST_PROXY', '10', 10],
    ['TRUST_PROXY', '10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['APP_SECRET', 'x'.repeat(32), 'x'.repeat(32)],
    ['ADMIN_PASSWORD', 'correct horse battery', 'correct horse battery'],
    ['ZIP_RATE_LIMIT', '1000000', 1_000_000],
    ['CPU_RATE_LIMIT', '1000000000', 1_000_000_000],
    ['ZIP_RATE_WINDOW_SECONDS', '86400', 86_400],
    ['PLUGINS_DIR', '/etc/sluice/plugins', '/etc/sluice/plugins'],
    ['S3_BUCKET', 'my.files-2', 'my.files-2'],
    ['S3_FORCE_PATH_STYLE', 'true', 'true'],
    ['AWS_REGION', 'eu-central-1', 'eu-central-1'],
    ['AWS_ENDPOINT_URL_S3', 'https://store.example:9000/', 'https://store.example:9000'],
    ['REDIS_TLS_VERIFY', 'false', 'false'],
    ['INDEX_PARTITIONS', '64', '64'],
    ['ACCEL_REDIRECT', '/internal/', '/internal/'],
    ['ACCEL_REDIRECT', '/a-1/b_2.x/', '/a-1/b_2.x/'],
    ['ACCEL_REDIRECT', 'X-Sendfile', 'X-Sendfile'],
    ['DELIVERY_REDIRECT_BYTES', '10485760', 10_485_760],
    ['FULL_CONTENT_RANGE', 'always', 'always'],
    ['FULL_CONTENT_RANGE', 'never', 'never'],
    ['WEB_CONCURRENCY', '1', 1],
    ['METRICS_PORT', '0', 0],
    ['METRICS_TOKEN', 'sixteen+letters!', 'sixteen+letters!'],
    ['LOG_LEVEL', 'silent', 'silent'],
  ] as const) {
    it(`reads ${name}=${text} as ${value}`, () => {
      expect(loadConfig({ [name]: text })[name as keyof Config]).to.deep.equal(value)
    })
  }

  it('reads the two tokens of the first client', () => {
    const tokens = { CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: SECRET }
    expect(loadConfig(tokens)).to.include(tokens)
  })

  for (const [name, text, expected] of [
    ['PORT', '65536', 'an integer from 0 to 65535'],
    ['PORT', '-1', 'an integer from 0 to 65535'],
    ['PORT', '80.5', 'an integer from 0 to 65535'],
    ['PORT', 'http', 'an integer from 0 to 65535'],
    ['PORT', '0x50', 'an integer from 0 to 65535'],
    ['PORT', ' 80', 'an integer from 0 to 65535'],
    ['PORT', '80\n', 'an integer from 0 to 65535'],
    ['HOST', 'http://x', 'an IP address or host name'],
    ['HOST', 'a b', 'an IP address or host name'],
    ['BASE_URL', 'example.com', 'an http or https URL without query'],
    ['BASE_URL', 'ftp://example.com', 'an http or https URL without query'],
    ['BASE_URL', 'https://example.com?a=1', 'an http or https URL without query'],
    ['BASE_URL', 'https://example.com#a', 'an http or https URL without query'],
    ['DATA_DIR', 'a\0b', 'a path'],
    ['UPLOAD_MAX_BYTES', '0', 'an integer (bytes) from 1'],
    ['UPLOAD_MAX_BYTES', '10MB', 'an integer (bytes) from 1'],
    ['UPLOAD_MAX_BYTES', '1e9', 'an integer (bytes) from 1'],
    ['UPLOAD_MAX_BYTES', '9999999999999999', 'an integer (bytes) from 1'],
    ['UPLOAD_MAX_FILES', '0', 'an integer (files) from 1 to 10000'],
    ['VARIANT_LIMIT', '0', 'an integer (derivatives) from 1 to 1000000'],
    ['HEADERS_TIMEOUT_SECONDS', '0', 'an integer (seconds) from 1 to 3600'],
    ['HEADERS_MAX_BYTES', '4095', 'an integer (bytes) from 4096 to 1048576'],
    ['IDLE_TIMEOUT_SECONDS', '0', 'an integer (seconds) from 1 to 86400'],
    ['KEEP_ALIVE_SECONDS', '3601', 'an integer (seconds) from 1 to 3600'],
    ['ZIP_RATE_LIMIT', '-1', 'an integer (requests) from 0 to 1000000'],
    ['ZIP_RATE_LIMIT', '1000001', 'an integer (requests) from 0 to 1000000'],
    ...['true', '11', '10.1.2.3/8', 'loopback', ','].map((text) => ['TRUST_PROXY', text, PROXIES] as const),
    ['ZIP_RATE_WINDOW_SECONDS', '0', 'an integer (seconds) from 1 to 86400'],
    ['ZIP_RATE_WINDOW_SECONDS', '86401', 'an integer (seconds) from 1 to 86400'],
    ['PLUGINS_DIR', '\0', 'a path'],
    ['FULL_CONTENT_RANGE', 'yes', 'one of auto, always, never'],
    ['FULL_CONTENT_RANGE', 'AUTO', 'one of auto, always, never'],
    ['WEB_CONCURRENCY', '0', 'an integer (processes) from 1 to 64'],
    ['WEB_CONCURRENCY', '65', 'an integer (processes) from 1 to 64'],
    ['S3_BUCKET', 'My_Bucket', 'the name of a bucket'],
    ['S3_BUCKET', 'ab', 'the name of a bucket'],
    ['S3_FORCE_PATH_STYLE', '1', 'one of false, true'],
    ['AWS_REGION', 'eu west', 'a region'],
    ['AWS_ENDPOINT_URL_S3', 'store.example', 'an http or https URL without query'],
    ['REDIS_TLS_VERIFY', 'no', 'one of true, false'],
    ['INDEX_PARTITIONS', '7', 'one of 1, 64'],
    ...['/', 'internal/', '/internal', '/a//b/', '/a/../b/', '/a b/', 'X-Accel-Redirect'].map(
      (text) =>
        ['ACCEL_REDIRECT', text, 'a path of the front server like /internal/, or X-Sendfile'] as const,
    ),
    ['DELIVERY_REDIRECT_BYTES', '0', 'an integer (bytes) from 1'],
    ['METRICS_PORT', '65536', 'an integer from 0 to 65535'],
    ['METRICS_HOST', 'a b', 'an IP address or host name'],
    ['LOG_LEVEL', 'trace', 'one of debug, info, warn, error, silent'],
  ] as const) {
    it(`refuses ${name}=${JSON.stringify(text)}, with the accepted values`, () => {
      expect(complaints({ [name]: text })).to.deep.equal([
        `${name}: expected ${expected}, received ${JSON.stringify(text)}`,
      ])
    })
  }

  it('hides the credentials of a BASE_URL in the error', () => {
    for (const url of ['https://me:word@example.com', 'https://me:wo/rd@x@example.com'])
      expect(complaints({ BASE_URL: url })).to.deep.equal([
        'BASE_URL: expected an http or https URL without query, received "https://…@example.com"',
      ])
  })

  for (const token of ['seven77', 'x'.repeat(129), 'has space', 'has/slash', 'naïve-token']) {
    it(`refuses the public token ${token.slice(0, 20)}`, () => {
      expect(complaints({ CLIENT_TOKEN: token, SECRET_CLIENT_TOKEN: SECRET })).to.deep.equal([
        `CLIENT_TOKEN: expected 8 to 128 letters, digits, "-" or "_", received ${JSON.stringify(token)}`,
      ])
    })
  }

  for (const [what, secret] of [
    ['too short', 'short-secret'],
    ['too long', 'swordfish'.repeat(29)],
    ['with a space', 'swordfish swordfish'],
    ['with a character that headers cannot contain', 'swordfish-swordfísh'],
  ] as const) {
    it(`refuses a secret token that is ${what}, and hides it`, () => {
      const lines = complaints({ CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: secret })
      expect(lines).to.deep.equal([
        `SECRET_CLIENT_TOKEN: expected 16 to 256 printable characters without spaces, received a value of ${secret.length} characters`,
      ])
      expect(lines.join()).to.not.include(secret.slice(0, 5))
    })
  }

  it('requires both tokens of the first client or neither, and hides the secret', () => {
    for (const environment of [{ CLIENT_TOKEN: PUBLIC }, { SECRET_CLIENT_TOKEN: SECRET }]) {
      const lines = complaints({ ...environment })
      expect(lines).to.deep.equal(['CLIENT_TOKEN and SECRET_CLIENT_TOKEN: set both or neither of them'])
    }
    expect(complaints({ CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: '' })).to.have.length(1)
  })

  describe('of Redis', () => {
    const shared = { CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: SECRET, APP_SECRET: 'x'.repeat(32) }

    for (const url of [
      'redis://127.0.0.1',
      'redis://:word@host:6380/2',
      'rediss://me:word@host:6380',
      'redis://[::1]:6379/15',
      'redis+sentinel://:word@a:26379,b/mymaster',
    ]) {
      it(`accepts ${url}`, () => {
        expect(loadConfig({ ...shared, REDIS_URL: url }).REDIS_URL).to.equal(url)
      })
    }

    for (const url of [
      'host:6379',
      'http://:swordfish@host',
      'redis://:swordfish@host/name',
      'redis://',
      'redis://:swordfish%@host',
      'redis://:swordfish@host?sentinelMasterId=one',
      'redis://host?db=1',
      'redis://host/#1',
    ]) {
      it(`refuses ${url}, and hides it`, () => {
        expect(complaints({ ...shared, REDIS_URL: url })).to.deep.equal([
          `REDIS_URL: expected ${REDIS_URL_FORMS}, received a value of ${url.length} characters`,
        ])
      })
    }

    it('is required for more than one process', () => {
      expect(complaints({ WEB_CONCURRENCY: '2' })).to.deep.equal([
        'WEB_CONCURRENCY: more than 1 requires REDIS_URL, which is unset, received 2',
      ])
      expect(complaints({ ...shared, WEB_CONCURRENCY: '2', REDIS_URL: 'redis://host' })).to.deep.equal([])
    })

    it('requires the tokens and the secret that all processes share', () => {
      expect(complaints({ REDIS_URL: 'redis://host' })).to.deep.equal([
        'CLIENT_TOKEN and SECRET_CLIENT_TOKEN: required with REDIS_URL, the same for all processes, but unset',
        'APP_SECRET: required with REDIS_URL, the same for all processes, but unset',
      ])
    })
  })

  describe('of S3', () => {
    for (const prefix of ['..', 'a/../b', './a', 'a b']) {
      it(`refuses the prefix ${prefix}`, () => {
        expect(complaints({ S3_BUCKET: 'files', S3_PREFIX: prefix })).to.deep.equal([
          `S3_PREFIX: expected folders of letters, digits, "_", "-" and ".", separated by "/", received "${prefix}"`,
        ])
      })
    }

    it('requires both parts of a key or neither, and hides the secret', () => {
      for (const environment of [{ AWS_ACCESS_KEY_ID: 'id' }, { AWS_SECRET_ACCESS_KEY: 'swordfish' }])
        expect(complaints({ S3_BUCKET: 'files', ...environment })).to.deep.equal([
          'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both or neither of them',
        ])
    })

    for (const [name, text] of [
      ['S3_PREFIX', 'uploads/2024'],
      ['S3_PUBLIC_URL', 'https://cdn.example.com/files'],
      ['S3_DIRECT_ENDPOINT', 'https://s3.example.com'],
    ] as const) {
      it(`accepts ${name} with S3_BUCKET only`, () => {
        expect(loadConfig({ S3_BUCKET: 'files', [name]: text })[name]).to.equal(text)
        expect(complaints({ [name]: text })).to.deep.equal([`${name}: requires S3_BUCKET, which is unset`])
      })
    }

    it('refuses ACCEL_REDIRECT, since a front server cannot read the files', () => {
      expect(complaints({ S3_BUCKET: 'files', ACCEL_REDIRECT: '/internal/' })).to.deep.equal([
        'ACCEL_REDIRECT: only for files in DATA_DIR, but S3_BUCKET is set. Use DELIVERY_REDIRECT_BYTES',
      ])
    })

    it('limits uploads to the largest object of S3, and those that pass through the service to the size that its parts allow', () => {
      const most = 5 * 1024 ** 4
      expect(complaints({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES: `${most}` })).to.deep.equal([])
      expect(complaints({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES: `${most + 1}` })).to.deep.equal([
        `UPLOAD_MAX_BYTES: expected at most ${most}, the maximum of S3, received ${most + 1}`,
      ])
      expect(complaints({ UPLOAD_MAX_BYTES: `${most + 1}` })).to.deep.equal([])
      const UPLOAD_MAX_BYTES = most
      expect(streamedMaxBytes({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES })).to.equal(10_000 * PART_BYTES)
      expect(streamedMaxBytes({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES: 5 })).to.equal(5)
      expect(streamedMaxBytes({ S3_BUCKET: '', UPLOAD_MAX_BYTES })).to.equal(most)
    })
  })

  it('reports all invalid values at once, one per line', () => {
    const lines = complaints({
      PORT: 'http',
      BASE_URL: 'x',
      CLIENT_TOKEN: '!',
      SECRET_CLIENT_TOKEN: 'no',
      UPLOAD_MAX_BYTES: '10MB',
      ZIP_RATE_WINDOW_SECONDS: '0',
      LOG_LEVEL: 'loud',
      S3_BUCKET: 'b',
      REDIS_URL: 'r',
      APP_SECRET: 'short',
    })
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).to.deep.equal([
      'PORT',
      'BASE_URL',
      'S3_BUCKET',
      'REDIS_URL',
      'CLIENT_TOKEN',
      'SECRET_CLIENT_TOKEN',
      'APP_SECRET',
      'UPLOAD_MAX_BYTES',
      'ZIP_RATE_WINDOW_SECONDS',
      'LOG_LEVEL',
    ])
  })

  describe('describeVariables', () => {
    it('returns every variable, with help and accepted values', () => {
      const rows = describeVariables()
      expect(rows.map(({ name }) => name)).to.deep.equal(Object.keys(VARIABLES))
      for (const row of rows) {
        expect(row.help, row.name).to.match(/^.{10,}$/)
        expect(row.expected, row.name).to.match(/^.{3,}$/)
      }
    })

    it('returns the defaults that are used', () => {
      const config = loadConfig({}) as Record<string, unknown>
      for (const { name, default: shown } of describeVariables()) {
        if (name === 'BASE_URL') expect(shown).to.equal('http://localhost:<PORT>')
        else expect(shown, name).to.equal(String(config[name] ?? ''))
      }
    })
  })
})
