import { expect } from 'chai'
import { ALIASES } from '../../config/aliases.ts'
import { describeVariables, loadConfig } from '../../config/load.ts'
import { VARIABLES } from '../../config/schema.ts'
import { configWarnings } from '../../config/warnings.ts'

describe('former names of variables', () => {
  for (const { name, formerly, isPermanent } of ALIASES)
    it(`are accepted: ${formerly}, ${isPermanent ? 'without a warning' : 'with one warning'}`, () => {
      expect(VARIABLES).to.have.property(name)
      expect(VARIABLES).not.to.have.property(formerly)
      const value = name === 'MEDIA_JOBS_RUN_IN' ? 'web' : '7'
      expect(String(loadConfig({ [formerly]: value })[name as 'PORT'])).to.equal(value)
      const warnings = configWarnings({ [formerly]: value })
      if (isPermanent) expect(warnings).to.deep.equal([])
      else expect(warnings.join('\n')).to.match(new RegExp(`^${formerly} is now called ${name}\\..*$`))
    })

  it('give way to the new name when that has the same value', () => {
    const both = { TRANSFORM_KILL_SECONDS: '7', TRANSFORM_HANG_SECONDS: '7' }
    expect(loadConfig(both).TRANSFORM_KILL_SECONDS).to.equal(7)
    expect(configWarnings(both)).to.have.length(1)
  })

  it('mean nothing when they are empty', () => {
    const environment = { TRANSFORM_KILL_SECONDS: '7', TRANSFORM_HANG_SECONDS: '' }
    expect(loadConfig(environment).TRANSFORM_KILL_SECONDS).to.equal(7)
    expect(configWarnings(environment)).to.deep.equal([])
  })

  it('prevent the start when the new name has another value', () => {
    expect(() => loadConfig({ ZIP_RATE_LIMIT: '7', ZIP_RATE_POINTS: '8' })).to.throw(
      /^ZIP_RATE_LIMIT and ZIP_RATE_POINTS: two names of one variable with different values\. Set only ZIP_RATE_LIMIT$/,
    )
  })

  it('are named in errors about their value', () => {
    expect(() => loadConfig({ ZIP_RATE_POINTS: 'many' })).to.throw(/^ZIP_RATE_POINTS: expected .*"many"$/)
  })
})

describe('misspelt names of variables', () => {
  const CASES: ReadonlyArray<[name: string, warning: string]> = [
    [
      'TRANSFORM_TIMOUT_SECONDS',
      'TRANSFORM_TIMOUT_SECONDS is not a setting. Did you mean TRANSFORM_TIMEOUT_SECONDS?',
    ],
    ['UPLOAD_MAX_BYTE', 'UPLOAD_MAX_BYTE is not a setting. Did you mean UPLOAD_MAX_BYTES?'],
    ['Log_Level', 'Log_Level is not a setting. Did you mean LOG_LEVEL?'],
    ['SLUICE_PORT', 'SLUICE_PORT is not a setting. Did you mean PORT?'],
    ['SLUICE_SOMETHING', 'SLUICE_SOMETHING is not a setting.'],
    ['TRANSFORM_HANG_SECOND', 'TRANSFORM_HANG_SECOND is not a setting. Did you mean TRANSFORM_KILL_SECONDS?'],
  ]
  for (const [name, warning] of CASES)
    it(`are reported without their value: ${name}`, () => {
      expect(configWarnings({ [name]: '7' })).to.deep.equal([warning])
    })

  it('are part of the errors of a start', () => {
    expect(() => loadConfig({ PORT: 'abc', BASE_ULR: 'http://a.example' })).to.throw(
      /^PORT: .*\nBASE_ULR is not a setting\. Did you mean BASE_URL\?$/,
    )
  })

  it('are not those of other programs', () => {
    const others = [
      ...[
        'PATH',
        'HOME',
        'USER',
        'SHELL',
        'TERM',
        'HOSTNAME',
        'PWD',
        'OLDPWD',
        'LANG',
        'LC_ALL',
        'TZ',
        'DYNO',
      ],
      ...['NODE_ENV', 'NODE_OPTIONS', 'NODE_VERSION', 'NODE_PATH', 'NO_PROXY', 'http_proxy', 'HTTPS_PROXY'],
      ...['AWS_PROFILE', 'AWS_DEFAULT_REGION', 'AWS_ENDPOINT_URL', 'AWS_ROLE_ARN', 'AWS_CONFIG_FILE'],
      ...['AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_EXECUTION_ENV', 'AWS_STS_REGIONAL_ENDPOINTS', 'S3_REGION'],
      ...['DATABASE_URL', 'REDIS_TLS_URL', 'REDIS_HOST', 'REDIS_PORT', 'REDIS_PASSWORD', 'PUBLIC_URL'],
      ...['KUBERNETES_PORT', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_PORT_443_TCP_ADDR', 'POD_NAME'],
      ...['XDG_DATA_DIRS', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_DIRS', 'DEBUGINFOD_URLS', 'DOCKER_HOST', 'SSH_TTY'],
      ...['GITHUB_TOKEN', 'GITHUB_BASE_REF', 'RUNNER_TEMP', 'CI_COMMIT_SHA', 'HEROKU_APP_NAME', 'LOGNAME'],
      ...[
        'npm_config_cache',
        'npm_package_name',
        'INIT_CWD',
        'STORAGE_SECRET_ACCESS_KEY',
        'MALLOC_ARENA_MAX',
      ],
    ]
    const environment = Object.fromEntries(others.map((name) => [name, 'x']))
    expect(configWarnings(environment)).to.deep.equal([])
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_TEST_'))
    expect(configWarnings(Object.fromEntries(own))).to.deep.equal([])
  })

  it('are no name of a variable', () => {
    const environment = Object.fromEntries(describeVariables().map(({ name }) => [name, 'x']))
    const names = configWarnings(environment).filter((line) => !line.includes('does not support'))
    expect(names).to.deep.equal([])
  })
})
