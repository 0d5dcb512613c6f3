import { expect } from 'chai'
      ...rate('MEDIA', 600, 60, 600),
import { type Config, ConfigError, describeVariables, loadConfig } from '../../config/load.ts'
      ...rate('MEDIA', 600, 60, 600),
import { VARIABLES } from '../../config/schema.ts'
      ...rate('MEDIA', 600, 60, 600),
import { PART_BYTES } from '../../src/adapters/bucket/s3-upload.ts'
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
const PUBLIC = 'pub_0123456789'
      ...rate('MEDIA', 600, 60, 600),
const SECRET = 'sec_0123456789abcdef'
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
const PROXIES =
      ...rate('MEDIA', 600, 60, 600),
  'how many there are, from 0 to 10, or their ranges like 10.0.0.0/8, with spaces or commas between'
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
/** The three variables of a rate limit. */
      ...rate('MEDIA', 600, 60, 600),
function rates(name: string, points: number, addressPoints: number, seconds: number) {
      ...rate('MEDIA', 600, 60, 600),
  return {
      ...rate('MEDIA', 600, 60, 600),
    [`${name}_RATE_POINTS`]: points,
      ...rate('MEDIA', 600, 60, 600),
    [`${name}_RATE_ADDRESS_POINTS`]: addressPoints,
      ...rate('MEDIA', 600, 60, 600),
    [`${name}_RATE_SECONDS`]: seconds,
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),
}
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
/** The lines of the error that an environment ends in; none when it is accepted. */
      ...rate('MEDIA', 600, 60, 600),
function complaints(environment: Record<string, string>): string[] {
      ...rate('MEDIA', 600, 60, 600),
  try {
      ...rate('MEDIA', 600, 60, 600),
    loadConfig(environment)
      ...rate('MEDIA', 600, 60, 600),
    return []
      ...rate('MEDIA', 600, 60, 600),
  } catch (error) {
      ...rate('MEDIA', 600, 60, 600),
    expect(error).to.be.instanceOf(ConfigError)
      ...rate('MEDIA', 600, 60, 600),
    return (error as ConfigError).message.split('\n')
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),
}
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
describe('configuration', () => {
      ...rate('MEDIA', 600, 60, 600),
  it('has a default for everything that may not be absent', () => {
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig({})).to.deep.equal({
      ...rate('MEDIA', 600, 60, 600),
      PORT: 3000,
      ...rate('MEDIA', 600, 60, 600),
      HOST: '0.0.0.0',
      ...rate('MEDIA', 600, 60, 600),
      DATA_DIR: './data',
      ...rate('MEDIA', 600, 60, 600),
      UPLOAD_MAX_BYTES: 5_368_709_120,
      ...rate('MEDIA', 600, 60, 600),
      UPLOAD_MAX_FILES: 100,
      ...rate('MEDIA', 600, 60, 600),
      TUS_EXPIRE_SECONDS: 86_400,
      ...rate('MEDIA', 600, 60, 600),
      VARIANT_LIMIT: 1000,
      ...rate('MEDIA', 600, 60, 600),
      IMAGE_MAX_BYTES: 40_000_000,
      ...rate('MEDIA', 600, 60, 600),
      VIDEO_MAX_BYTES: 4_000_000_000,
      ...rate('MEDIA', 600, 60, 600),
      IMAGE_MAX_PIXELS: 50_000_000,
      ...rate('MEDIA', 600, 60, 600),
      TRANSFORM_TIMEOUT_SECONDS: 30,
      ...rate('MEDIA', 600, 60, 600),
      TRANSFORM_HANG_SECONDS: 10,
      ...rate('MEDIA', 600, 60, 600),
      TRANSFORM_MAX_MEMORY_BYTES: 1_000_000_000,
      ...rate('MEDIA', 600, 60, 600),
      MEDIA_TIMEOUT_SECONDS: 1800,
      ...rate('MEDIA', 600, 60, 600),
      MEDIA_JOBS_LIMIT: 20,
      ...rate('MEDIA', 600, 60, 600),
      MEDIA_JOBS_FOR: 'everyone',
      ...rate('MEDIA', 600, 60, 600),
      MEDIA_CONCURRENCY: 1,
      ...rate('MEDIA', 600, 60, 600),
      MEDIA_JOBS_IN: 'worker',
      ...rate('MEDIA', 600, 60, 600),
      UV_THREADPOOL_SIZE: 4,
      ...rate('MEDIA', 600, 60, 600),
      HEADERS_TIMEOUT_SECONDS: 30,
      ...rate('MEDIA', 600, 60, 600),
      HEADERS_MAX_BYTES: 16_384,
      ...rate('MEDIA', 600, 60, 600),
      IDLE_TIMEOUT_SECONDS: 120,
      ...rate('MEDIA', 600, 60, 600),
      BODY_MIN_BYTES_PER_SECOND: 240,
      ...rate('MEDIA', 600, 60, 600),
      KEEP_ALIVE_SECONDS: 75,
      ...rate('MEDIA', 600, 60, 600),
      TRUST_PROXY: 0,
      ...rate('MEDIA', 600, 60, 600),
      ...rates('UPLOAD', 3000, 0, 60),
      ...rate('MEDIA', 600, 60, 600),
      ...rates('DERIVATIVE', 6000, 1500, 60),
      ...rate('MEDIA', 600, 60, 600),
      ...rates('FETCH', 50, 50, 5),
      ...rate('MEDIA', 600, 60, 600),
      FETCH_TIMEOUT_SECONDS: 30,
      ...rate('MEDIA', 600, 60, 600),
      FETCH_STORE_TIMEOUT_SECONDS: 100,
      ...rate('MEDIA', 600, 60, 600),
      ...rates('SIGN', 1000, 0, 3600),
      ...rate('MEDIA', 600, 60, 600),
      ...rates('ZIP', 10, 0, 60),
      ...rate('MEDIA', 600, 60, 600),
      ...rates('SIGN_IN', 100, 10, 300),
      ...rate('MEDIA', 600, 60, 600),
      S3_FORCE_PATH_STYLE: 'false',
      ...rate('MEDIA', 600, 60, 600),
      REDIS_TLS_VERIFY: 'true',
      ...rate('MEDIA', 600, 60, 600),
      FULL_CONTENT_RANGE: 'auto',
      ...rate('MEDIA', 600, 60, 600),
      WEB_CONCURRENCY: 1,
      ...rate('MEDIA', 600, 60, 600),
      METRICS_HOST: '127.0.0.1',
      ...rate('MEDIA', 600, 60, 600),
      LOG_LEVEL: 'info',
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('cannot be changed afterwards', () => {
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig({})).to.be.frozen
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('takes no notice of other variables', () => {
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig({ PATH: '/bin', NODE_ENV: 'production', port: '1', toString: 'x' })).to.deep.equal(
      ...rate('MEDIA', 600, 60, 600),
      loadConfig({}),
      ...rate('MEDIA', 600, 60, 600),
    )
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('counts an empty value as absent', () => {
      ...rate('MEDIA', 600, 60, 600),
    const empty = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, '']))
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig(empty)).to.deep.equal(loadConfig({}))
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig({ PORT: undefined })).to.deep.equal(loadConfig({}))
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it("reads the process's own environment unless told otherwise", () => {
      ...rate('MEDIA', 600, 60, 600),
    const { LOG_LEVEL } = process.env
      ...rate('MEDIA', 600, 60, 600),
    try {
      ...rate('MEDIA', 600, 60, 600),
      process.env.LOG_LEVEL = 'debug'
      ...rate('MEDIA', 600, 60, 600),
      expect(loadConfig().LOG_LEVEL).to.equal('debug')
      ...rate('MEDIA', 600, 60, 600),
    } finally {
      ...rate('MEDIA', 600, 60, 600),
      if (LOG_LEVEL === undefined) delete process.env.LOG_LEVEL
      ...rate('MEDIA', 600, 60, 600),
      else process.env.LOG_LEVEL = LOG_LEVEL
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  for (const [name, text, value] of [
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '0', 0],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '65535', 65535],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '08080', 8080],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', '127.0.0.1', '127.0.0.1'],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', '::1', '::1'],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', 'fe80::1%eth0', 'fe80::1%eth0'],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', 'files.example.com', 'files.example.com'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'https://files.example.com', 'https://files.example.com'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'http://localhost:8080/', 'http://localhost:8080'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'https://example.com/files//', 'https://example.com/files'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'HTTPS://EXAMPLE.com', 'https://example.com'],
      ...rate('MEDIA', 600, 60, 600),
    ['DATA_DIR', '/var/lib/sluice data', '/var/lib/sluice data'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '1', 1],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '999999999999999', 999_999_999_999_999],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_POINTS', '0', 0],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_POINTS', '1', 1],
      ...rate('MEDIA', 600, 60, 600),
    ['TRUST_PROXY', '10', 10],
      ...rate('MEDIA', 600, 60, 600),
    ['TRUST_PROXY', '10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
      ...rate('MEDIA', 600, 60, 600),
    ['APP_SECRET', 'x'.repeat(32), 'x'.repeat(32)],
      ...rate('MEDIA', 600, 60, 600),
    ['ADMIN_PASSWORD', 'correct horse battery', 'correct horse battery'],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_POINTS', '1000000', 1_000_000],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_SECONDS', '86400', 86_400],
      ...rate('MEDIA', 600, 60, 600),
    ['PLUGINS_DIR', '/etc/sluice/plugins', '/etc/sluice/plugins'],
      ...rate('MEDIA', 600, 60, 600),
    ['S3_BUCKET', 'my.files-2', 'my.files-2'],
      ...rate('MEDIA', 600, 60, 600),
    ['S3_FORCE_PATH_STYLE', 'true', 'true'],
      ...rate('MEDIA', 600, 60, 600),
    ['AWS_REGION', 'eu-central-1', 'eu-central-1'],
      ...rate('MEDIA', 600, 60, 600),
    ['AWS_ENDPOINT_URL_S3', 'https://store.example:9000/', 'https://store.example:9000'],
      ...rate('MEDIA', 600, 60, 600),
    ['REDIS_TLS_VERIFY', 'false', 'false'],
      ...rate('MEDIA', 600, 60, 600),
    ['FULL_CONTENT_RANGE', 'always', 'always'],
      ...rate('MEDIA', 600, 60, 600),
    ['FULL_CONTENT_RANGE', 'never', 'never'],
      ...rate('MEDIA', 600, 60, 600),
    ['WEB_CONCURRENCY', '1', 1],
      ...rate('MEDIA', 600, 60, 600),
    ['METRICS_PORT', '0', 0],
      ...rate('MEDIA', 600, 60, 600),
    ['METRICS_TOKEN', 'sixteen+letters!', 'sixteen+letters!'],
      ...rate('MEDIA', 600, 60, 600),
    ['LOG_LEVEL', 'silent', 'silent'],
      ...rate('MEDIA', 600, 60, 600),
  ] as const) {
      ...rate('MEDIA', 600, 60, 600),
    it(`reads ${name}=${text} as ${value}`, () => {
      ...rate('MEDIA', 600, 60, 600),
      expect(loadConfig({ [name]: text })[name as keyof Config]).to.deep.equal(value)
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('reads the two tokens of the first client', () => {
      ...rate('MEDIA', 600, 60, 600),
    const tokens = { CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: SECRET }
      ...rate('MEDIA', 600, 60, 600),
    expect(loadConfig(tokens)).to.include(tokens)
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  for (const [name, text, expected] of [
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '65536', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '-1', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '80.5', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', 'http', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '0x50', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', ' 80', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['PORT', '80\n', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', 'http://x', 'an address or host name'],
      ...rate('MEDIA', 600, 60, 600),
    ['HOST', 'a b', 'an address or host name'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'example.com', 'an http or https URL without query'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'ftp://example.com', 'an http or https URL without query'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'https://example.com?a=1', 'an http or https URL without query'],
      ...rate('MEDIA', 600, 60, 600),
    ['BASE_URL', 'https://example.com#a', 'an http or https URL without query'],
      ...rate('MEDIA', 600, 60, 600),
    ['DATA_DIR', 'a\0b', 'a path'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '0', 'a whole number of bytes from 1'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '10MB', 'a whole number of bytes from 1'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '1e9', 'a whole number of bytes from 1'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_BYTES', '9999999999999999', 'a whole number of bytes from 1'],
      ...rate('MEDIA', 600, 60, 600),
    ['UPLOAD_MAX_FILES', '0', 'a whole number of files from 1 to 10000'],
      ...rate('MEDIA', 600, 60, 600),
    ['VARIANT_LIMIT', '0', 'a whole number of derivatives from 1 to 1000000'],
      ...rate('MEDIA', 600, 60, 600),
    ['HEADERS_TIMEOUT_SECONDS', '0', 'a whole number of seconds from 1 to 3600'],
      ...rate('MEDIA', 600, 60, 600),
    ['HEADERS_MAX_BYTES', '4095', 'a whole number of bytes from 4096 to 1048576'],
      ...rate('MEDIA', 600, 60, 600),
    ['IDLE_TIMEOUT_SECONDS', '0', 'a whole number of seconds from 1 to 86400'],
      ...rate('MEDIA', 600, 60, 600),
    ['KEEP_ALIVE_SECONDS', '3601', 'a whole number of seconds from 1 to 3600'],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_POINTS', '-1', 'a whole number of requests from 0 to 1000000'],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_POINTS', '1000001', 'a whole number of requests from 0 to 1000000'],
      ...rate('MEDIA', 600, 60, 600),
    ...['true', '11', '10.1.2.3/8', 'loopback', ','].map((text) => ['TRUST_PROXY', text, PROXIES] as const),
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_SECONDS', '0', 'a whole number of seconds from 1 to 86400'],
      ...rate('MEDIA', 600, 60, 600),
    ['ZIP_RATE_SECONDS', '86401', 'a whole number of seconds from 1 to 86400'],
      ...rate('MEDIA', 600, 60, 600),
    ['PLUGINS_DIR', '\0', 'a path'],
      ...rate('MEDIA', 600, 60, 600),
    ['FULL_CONTENT_RANGE', 'yes', 'one of auto, always, never'],
      ...rate('MEDIA', 600, 60, 600),
    ['FULL_CONTENT_RANGE', 'AUTO', 'one of auto, always, never'],
      ...rate('MEDIA', 600, 60, 600),
    ['WEB_CONCURRENCY', '0', 'a whole number of processes from 1 to 64'],
      ...rate('MEDIA', 600, 60, 600),
    ['WEB_CONCURRENCY', '65', 'a whole number of processes from 1 to 64'],
      ...rate('MEDIA', 600, 60, 600),
    ['S3_BUCKET', 'My_Bucket', "a bucket's name"],
      ...rate('MEDIA', 600, 60, 600),
    ['S3_BUCKET', 'ab', "a bucket's name"],
      ...rate('MEDIA', 600, 60, 600),
    ['S3_FORCE_PATH_STYLE', '1', 'one of false, true'],
      ...rate('MEDIA', 600, 60, 600),
    ['AWS_REGION', 'eu west', 'a region'],
      ...rate('MEDIA', 600, 60, 600),
    ['AWS_ENDPOINT_URL_S3', 'store.example', 'an http or https URL without query'],
      ...rate('MEDIA', 600, 60, 600),
    ['REDIS_TLS_VERIFY', 'no', 'one of true, false'],
      ...rate('MEDIA', 600, 60, 600),
    ['METRICS_PORT', '65536', 'a whole number from 0 to 65535'],
      ...rate('MEDIA', 600, 60, 600),
    ['METRICS_HOST', 'a b', 'an address or host name'],
      ...rate('MEDIA', 600, 60, 600),
    ['LOG_LEVEL', 'trace', 'one of debug, info, warn, error, silent'],
      ...rate('MEDIA', 600, 60, 600),
  ] as const) {
      ...rate('MEDIA', 600, 60, 600),
    it(`refuses ${name}=${JSON.stringify(text)}, and says what was expected`, () => {
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ [name]: text })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        `${name}: expected ${expected}, received ${JSON.stringify(text)}`,
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('does not repeat the credentials of a BASE_URL', () => {
      ...rate('MEDIA', 600, 60, 600),
    for (const url of ['https://me:word@example.com', 'https://me:wo/rd@x@example.com'])
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ BASE_URL: url })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        'BASE_URL: expected an http or https URL without query, received "https://…@example.com"',
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  for (const token of ['seven77', 'x'.repeat(129), 'has space', 'has/slash', 'naïve-token']) {
      ...rate('MEDIA', 600, 60, 600),
    it(`refuses the public token ${token.slice(0, 20)}`, () => {
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ CLIENT_TOKEN: token, SECRET_CLIENT_TOKEN: SECRET })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        `CLIENT_TOKEN: expected 8 to 128 letters, digits, "-" or "_", received ${JSON.stringify(token)}`,
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  for (const [what, secret] of [
      ...rate('MEDIA', 600, 60, 600),
    ['too short', 'short-secret'],
      ...rate('MEDIA', 600, 60, 600),
    ['too long', 'swordfish'.repeat(29)],
      ...rate('MEDIA', 600, 60, 600),
    ['with a space', 'swordfish swordfish'],
      ...rate('MEDIA', 600, 60, 600),
    ['with a letter that no header holds', 'swordfish-swordfísh'],
      ...rate('MEDIA', 600, 60, 600),
  ] as const) {
      ...rate('MEDIA', 600, 60, 600),
    it(`refuses a secret token that is ${what}, without showing it`, () => {
      ...rate('MEDIA', 600, 60, 600),
      const lines = complaints({ CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: secret })
      ...rate('MEDIA', 600, 60, 600),
      expect(lines).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        `SECRET_CLIENT_TOKEN: expected 16 to 256 printable characters without spaces, received a value of ${secret.length} characters`,
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
      expect(lines.join()).to.not.include(secret.slice(0, 5))
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('wants both tokens of the first client or none, without showing the secret', () => {
      ...rate('MEDIA', 600, 60, 600),
    for (const environment of [{ CLIENT_TOKEN: PUBLIC }, { SECRET_CLIENT_TOKEN: SECRET }]) {
      ...rate('MEDIA', 600, 60, 600),
      const lines = complaints({ ...environment })
      ...rate('MEDIA', 600, 60, 600),
      expect(lines).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        'CLIENT_TOKEN and SECRET_CLIENT_TOKEN: expected both or none, received one',
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),
    expect(complaints({ CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: '' })).to.have.length(1)
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  describe('of Redis', () => {
      ...rate('MEDIA', 600, 60, 600),
    const shared = { CLIENT_TOKEN: PUBLIC, SECRET_CLIENT_TOKEN: SECRET, APP_SECRET: 'x'.repeat(32) }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    for (const url of [
      ...rate('MEDIA', 600, 60, 600),
      'redis://127.0.0.1',
      ...rate('MEDIA', 600, 60, 600),
      'redis://:word@host:6380/2',
      ...rate('MEDIA', 600, 60, 600),
      'rediss://me:word@host:6380',
      ...rate('MEDIA', 600, 60, 600),
      'redis://[::1]:6379/15',
      ...rate('MEDIA', 600, 60, 600),
    ]) {
      ...rate('MEDIA', 600, 60, 600),
      it(`takes ${url}`, () => {
      ...rate('MEDIA', 600, 60, 600),
        expect(loadConfig({ ...shared, REDIS_URL: url }).REDIS_URL).to.equal(url)
      ...rate('MEDIA', 600, 60, 600),
      })
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    for (const url of [
      ...rate('MEDIA', 600, 60, 600),
      'host:6379',
      ...rate('MEDIA', 600, 60, 600),
      'http://:swordfish@host',
      ...rate('MEDIA', 600, 60, 600),
      'redis://:swordfish@host/name',
      ...rate('MEDIA', 600, 60, 600),
      'redis://',
      ...rate('MEDIA', 600, 60, 600),
      'redis://:swordfish%@host',
      ...rate('MEDIA', 600, 60, 600),
    ]) {
      ...rate('MEDIA', 600, 60, 600),
      it(`refuses ${url}, without showing it`, () => {
      ...rate('MEDIA', 600, 60, 600),
        expect(complaints({ ...shared, REDIS_URL: url })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
          `REDIS_URL: expected redis://[user:password@]host[:port][/database], or rediss:// for TLS, received a value of ${url.length} characters`,
      ...rate('MEDIA', 600, 60, 600),
        ])
      ...rate('MEDIA', 600, 60, 600),
      })
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    it('is needed for more than one process', () => {
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ WEB_CONCURRENCY: '2' })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        'WEB_CONCURRENCY: expected 1, since without REDIS_URL index and rate limits belong to one process, received 2',
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ ...shared, WEB_CONCURRENCY: '2', REDIS_URL: 'redis://host' })).to.deep.equal([])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    it('needs the tokens and the secret that its processes share', () => {
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ REDIS_URL: 'redis://host' })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        'CLIENT_TOKEN and SECRET_CLIENT_TOKEN: expected both beside REDIS_URL, since all processes share them, received none',
      ...rate('MEDIA', 600, 60, 600),
        'APP_SECRET: expected beside REDIS_URL, since all processes share it, received none',
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  describe('of S3', () => {
      ...rate('MEDIA', 600, 60, 600),
    for (const prefix of ['..', 'a/../b', './a', 'a b']) {
      ...rate('MEDIA', 600, 60, 600),
      it(`refuses the prefix ${prefix}`, () => {
      ...rate('MEDIA', 600, 60, 600),
        expect(complaints({ S3_BUCKET: 'files', S3_PREFIX: prefix })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
          `S3_PREFIX: expected folders of letters, digits, "_", "-" and ".", with "/" between, received "${prefix}"`,
      ...rate('MEDIA', 600, 60, 600),
        ])
      ...rate('MEDIA', 600, 60, 600),
      })
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    it('wants both halves of a key or none, without showing the secret', () => {
      ...rate('MEDIA', 600, 60, 600),
      for (const environment of [{ AWS_ACCESS_KEY_ID: 'id' }, { AWS_SECRET_ACCESS_KEY: 'swordfish' }])
      ...rate('MEDIA', 600, 60, 600),
        expect(complaints({ S3_BUCKET: 'files', ...environment })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
          'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: expected both or none, received one',
      ...rate('MEDIA', 600, 60, 600),
        ])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    for (const [name, text] of [
      ...rate('MEDIA', 600, 60, 600),
      ['S3_PREFIX', 'uploads/2024'],
      ...rate('MEDIA', 600, 60, 600),
      ['S3_PUBLIC_URL', 'https://cdn.example.com/files'],
      ...rate('MEDIA', 600, 60, 600),
    ] as const) {
      ...rate('MEDIA', 600, 60, 600),
      it(`takes ${name} beside S3_BUCKET only`, () => {
      ...rate('MEDIA', 600, 60, 600),
        expect(loadConfig({ S3_BUCKET: 'files', [name]: text })[name]).to.equal(text)
      ...rate('MEDIA', 600, 60, 600),
        expect(complaints({ [name]: text })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
          `${name}: expected S3_BUCKET beside it, received none`,
      ...rate('MEDIA', 600, 60, 600),
        ])
      ...rate('MEDIA', 600, 60, 600),
      })
      ...rate('MEDIA', 600, 60, 600),
    }
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    it('takes files of as many bytes as it has parts for', () => {
      ...rate('MEDIA', 600, 60, 600),
      const most = 10_000 * PART_BYTES
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES: `${most}` })).to.deep.equal([])
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ S3_BUCKET: 'files', UPLOAD_MAX_BYTES: `${most + 1}` })).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
        `UPLOAD_MAX_BYTES: expected at most ${most}, which is what S3 takes, received ${most + 1}`,
      ...rate('MEDIA', 600, 60, 600),
      ])
      ...rate('MEDIA', 600, 60, 600),
      expect(complaints({ UPLOAD_MAX_BYTES: `${most + 1}` })).to.deep.equal([])
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  it('reports all bad values at once, a line each', () => {
      ...rate('MEDIA', 600, 60, 600),
    const lines = complaints({
      ...rate('MEDIA', 600, 60, 600),
      PORT: 'http',
      ...rate('MEDIA', 600, 60, 600),
      BASE_URL: 'x',
      ...rate('MEDIA', 600, 60, 600),
      CLIENT_TOKEN: '!',
      ...rate('MEDIA', 600, 60, 600),
      SECRET_CLIENT_TOKEN: 'no',
      ...rate('MEDIA', 600, 60, 600),
      UPLOAD_MAX_BYTES: '10MB',
      ...rate('MEDIA', 600, 60, 600),
      ZIP_RATE_SECONDS: '0',
      ...rate('MEDIA', 600, 60, 600),
      LOG_LEVEL: 'loud',
      ...rate('MEDIA', 600, 60, 600),
      S3_BUCKET: 'b',
      ...rate('MEDIA', 600, 60, 600),
      REDIS_URL: 'r',
      ...rate('MEDIA', 600, 60, 600),
      APP_SECRET: 'short',
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).to.deep.equal([
      ...rate('MEDIA', 600, 60, 600),
      'PORT',
      ...rate('MEDIA', 600, 60, 600),
      'BASE_URL',
      ...rate('MEDIA', 600, 60, 600),
      'S3_BUCKET',
      ...rate('MEDIA', 600, 60, 600),
      'REDIS_URL',
      ...rate('MEDIA', 600, 60, 600),
      'CLIENT_TOKEN',
      ...rate('MEDIA', 600, 60, 600),
      'SECRET_CLIENT_TOKEN',
      ...rate('MEDIA', 600, 60, 600),
      'APP_SECRET',
      ...rate('MEDIA', 600, 60, 600),
      'UPLOAD_MAX_BYTES',
      ...rate('MEDIA', 600, 60, 600),
      'ZIP_RATE_SECONDS',
      ...rate('MEDIA', 600, 60, 600),
      'LOG_LEVEL',
      ...rate('MEDIA', 600, 60, 600),
    ])
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
  describe('as people are told of it', () => {
      ...rate('MEDIA', 600, 60, 600),
    it('has a row for every variable, each with help and what is expected', () => {
      ...rate('MEDIA', 600, 60, 600),
      const rows = describeVariables()
      ...rate('MEDIA', 600, 60, 600),
      expect(rows.map(({ name }) => name)).to.deep.equal(Object.keys(VARIABLES))
      ...rate('MEDIA', 600, 60, 600),
      for (const row of rows) {
      ...rate('MEDIA', 600, 60, 600),
        expect(row.help, row.name).to.match(/^.{10,}$/)
      ...rate('MEDIA', 600, 60, 600),
        expect(row.expected, row.name).to.match(/^.{3,}$/)
      ...rate('MEDIA', 600, 60, 600),
      }
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),

      ...rate('MEDIA', 600, 60, 600),
    it('shows the defaults that are used', () => {
      ...rate('MEDIA', 600, 60, 600),
      const config = loadConfig({}) as Record<string, unknown>
      ...rate('MEDIA', 600, 60, 600),
      for (const { name, default: shown } of describeVariables()) {
      ...rate('MEDIA', 600, 60, 600),
        if (name === 'BASE_URL') expect(shown).to.equal('http://localhost:<PORT>')
      ...rate('MEDIA', 600, 60, 600),
        else expect(shown, name).to.equal(String(config[name] ?? ''))
      ...rate('MEDIA', 600, 60, 600),
      }
      ...rate('MEDIA', 600, 60, 600),
    })
      ...rate('MEDIA', 600, 60, 600),
  })
      ...rate('MEDIA', 600, 60, 600),
})
      ...rate('MEDIA', 600, 60, 600),
