import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { parse } from 'smol-toml'
import { VARIABLES } from '../../config/schema.ts'
import { FLY, HEROKU, RAILWAY, RENDER } from './schemas.ts'
import { readYaml } from './yaml.ts'

/** Seconds that the server may take to stop, with the defaults, and 5 s more. */
const STOP_SECONDS =
  Number(VARIABLES.SHUTDOWN_DELAY_SECONDS.default) + Number(VARIABLES.SHUTDOWN_DRAIN_SECONDS.default) + 5

/** Commands in the image. */
const COMMANDS = ['sluice start', 'sluice worker', 'sluice start --check']

const ajv = new Ajv({ allErrors: true })
const problemsOf = (schema: object, value: unknown) => {
  const validate = ajv.compile(schema)
  return validate(value)
    ? []
    : validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Whether each variable has a valid value, or one that is only known later. */
function expectVariables(variables: Record<string, string | undefined>) {
  const known = VARIABLES as Record<string, { read(text: string): unknown }>
  for (const [name, value] of Object.entries(variables)) {
    expect(known, name).to.have.property(name)
    if (value !== undefined) expect(known[name]?.read(value), `${name}=${value}`).not.to.equal(undefined)
  }
}

/** What each deployment with Redis and S3 needs. */
const NEEDED = [
  'APP_SECRET',
  'CLIENT_TOKEN',
  'SECRET_CLIENT_TOKEN',
  'S3_BUCKET',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
]

/** What a compatible store needs in addition. */
const STORE = ['AWS_ENDPOINT_URL_S3', 'S3_FORCE_PATH_STYLE']

describe('app.json of Heroku', () => {
  interface App {
    buildpacks: Array<{ url: string }>
    addons: Array<{ plan: string }>
    formation: Record<string, { quantity: number }>
    env: Record<string, { value?: string; generator?: string; required?: boolean }>
  }
  const app = JSON.parse(readFileSync('app.json', 'utf8')) as App

  it('is valid', () => {
    expect(problemsOf(HEROKU, app)).to.deep.equal([])
    expect(problemsOf(HEROKU, { ...app, addon: [] })).to.have.length(1)
  })

  it('has variables that Sluice knows with valid values, and generates secrets', () => {
    const { LD_LIBRARY_PATH, ...env } = app.env
    expectVariables(Object.fromEntries(Object.entries(env).map(([name, { value }]) => [name, value])))
    expect(Object.keys(env)).to.include.members([...NEEDED, ...STORE])
    // The generator makes 64 hexadecimal digits.
    const generated = Object.entries(env).filter(([, { generator }]) => generator === 'secret')
    expect(generated.map(([name]) => name)).to.have.members([
      'CLIENT_TOKEN',
      'SECRET_CLIENT_TOKEN',
      'APP_SECRET',
    ])
    expectVariables(Object.fromEntries(generated.map(([name]) => [name, '0f'.repeat(32)])))
    expect(LD_LIBRARY_PATH?.value).to.match(/^\/app\/\.apt\//)
  })

  it('lets requests in progress end before Heroku kills the process, and no longer', () => {
    const delaySeconds = Number(VARIABLES.SHUTDOWN_DELAY_SECONDS.default)
    expect(Number(app.env.SHUTDOWN_DRAIN_SECONDS?.value) + delaySeconds + 5).to.equal(30)
  })

  it('starts processes of the Procfile, with Redis and ffmpeg', () => {
    const processes = [...readFileSync('Procfile', 'utf8').matchAll(/^(\w+):/gm)].map(([, name]) => name)
    expect(processes).to.include.members(Object.keys(app.formation))
    expect(Object.keys(app.formation)).to.deep.equal(['web', 'worker'])
    expect(app.addons[0]?.plan).to.match(/^heroku-redis:/)
    expect(app.buildpacks.map(({ url }) => url)).to.deep.equal(['heroku-community/apt', 'heroku/nodejs'])
    expect(readFileSync('Aptfile', 'utf8').split('\n')).to.include('ffmpeg')
  })
})

describe('fly.toml', () => {
  const config = parse(readFileSync('deploy/fly/fly.toml', 'utf8')) as {
    kill_timeout: number
    processes: Record<string, string>
    deploy: { release_command: string }
    env: Record<string, string>
    http_service: { internal_port: number; processes: string[]; checks: Array<{ path: string }> }
    checks: Record<string, { port: number; path: string; processes: string[] }>
  }

  it('is valid', () => {
    expect(problemsOf(FLY, config)).to.deep.equal([])
    expect(problemsOf(FLY, { ...config, vms: [] })).to.have.length(1)
  })

  it('has variables that Sluice knows, and commands of the image', () => {
    expectVariables(config.env)
    expect(COMMANDS).to.include.members([...Object.values(config.processes), config.deploy.release_command])
  })

  it('checks each process where it listens, and allows it to stop', () => {
    expect(config.http_service).to.include({ internal_port: Number(config.env.PORT) })
    expect(config.http_service.checks[0]?.path).to.equal('/readyz')
    expect(config.checks.worker).to.include({ port: Number(config.env.METRICS_PORT), path: '/healthz' })
    const named = [config.http_service, ...Object.values(config.checks)].flatMap(({ processes }) => processes)
    expect(Object.keys(config.processes)).to.include.members(named)
    expect(config.kill_timeout).to.be.at.least(STOP_SECONDS)
  })
})

describe('render.yaml', () => {
  interface Variable {
    key: string
    value?: string
    generateValue?: boolean
    fromService?: { name: string; envVarKey?: string }
  }
  interface Service {
    type: string
    name: string
    dockerCommand?: string
    preDeployCommand?: string
    healthCheckPath?: string
    maxShutdownDelaySeconds?: number
    envVars?: Variable[]
  }
  const blueprint = readYaml('deploy/render/render.yaml') as { services: Service[] }
  const [web, worker] = blueprint.services
  const keysOf = (service: Service | undefined) => service?.envVars?.map(({ key }) => key) ?? []

  it('is valid', () => {
    expect(problemsOf(RENDER, blueprint)).to.deep.equal([])
    expect(problemsOf(RENDER, { services: [{ ...web, command: 'x' }] })).not.to.deep.equal([])
  })

  it('has variables that Sluice knows, and generates only secrets that may have any characters', () => {
    for (const { envVars = [] } of blueprint.services)
      expectVariables(Object.fromEntries(envVars.map(({ key, value }) => [key, value])))
    expect(keysOf(web)).to.include.members([...NEEDED, 'REDIS_URL'])
    // 256 bits in base64, such as "a+b/c=".
    const generated = web?.envVars?.filter(({ generateValue }) => generateValue) ?? []
    expect(generated).to.have.length(2)
    expectVariables(Object.fromEntries(generated.map(({ key }) => [key, `${'a+b/'.repeat(10)}abc=`])))
  })

  it('gives the worker the values of the web service', () => {
    expect(keysOf(worker)).to.deep.equal(keysOf(web).filter((key) => key !== 'TRUST_PROXY'))
    const names = blueprint.services.map(({ name }) => name)
    for (const { key, fromService } of worker?.envVars ?? []) {
      expect(names, key).to.include(fromService?.name)
      if (fromService?.name === web?.name) expect(fromService?.envVarKey).to.equal(key)
    }
  })

  it('has commands of the image, and allows the processes to stop', () => {
    expect(COMMANDS).to.include.members([worker?.dockerCommand, web?.preDeployCommand])
    expect(web?.healthCheckPath).to.equal('/readyz')
    expect(web?.maxShutdownDelaySeconds).to.be.at.least(STOP_SECONDS)
  })
})

describe('the files of Railway', () => {
  for (const name of ['web', 'worker'])
    it(`are valid, with commands of the image: ${name}`, () => {
      const config = JSON.parse(readFileSync(`deploy/railway/${name}.json`, 'utf8'))
      expect(problemsOf(RAILWAY, config)).to.deep.equal([])
      const { startCommand, preDeployCommand = [], drainingSeconds, healthcheckPath } = config.deploy
      expect(COMMANDS).to.include.members([startCommand, ...preDeployCommand])
      expect(drainingSeconds).to.be.at.least(STOP_SECONDS)
      expect(healthcheckPath).to.equal(name === 'web' ? '/readyz' : undefined)
    })

  it('have a Dockerfile without VOLUME, which Railway refuses', () => {
    expect(readFileSync('Dockerfile', 'utf8')).not.to.match(/^VOLUME/m)
  })
})

describe('compose.yaml of Coolify', () => {
  const { services } = readYaml('deploy/coolify/compose.yaml') as {
    services: Record<string, { image?: string; environment?: Record<string, string | null>; '<<'?: unknown }>
  }
  const text = readFileSync('deploy/coolify/compose.yaml', 'utf8')
  const base = (service = 'web') => {
    const { environment = {} } = services[service] ?? {}
    return { ...Object(environment['<<']), ...environment } as Record<string, string | null>
  }

  it('has variables that Sluice knows, and everything that it needs', () => {
    for (const service of ['web', 'worker']) {
      const { '<<': _, SERVICE_URL_WEB_3000, ...environment } = base(service)
      const isPlain = (value: string | null) => value !== null && !value.startsWith('${')
      expectVariables(
        Object.fromEntries(
          Object.entries(environment).map(([name, value]) => [
            name,
            isPlain(value) ? String(value) : undefined,
          ]),
        ),
      )
      expect(Object.keys(environment)).to.include.members([...NEEDED, ...STORE, 'REDIS_URL', 'BASE_URL'])
    }
    expect(base()).to.have.property('SERVICE_URL_WEB_3000', null)
  })

  it('has secrets by the names that Coolify generates, long enough', () => {
    const { APP_SECRET, SECRET_CLIENT_TOKEN, CLIENT_TOKEN } = base()
    for (const value of [APP_SECRET, SECRET_CLIENT_TOKEN])
      expect(value).to.match(/^\$\{SERVICE_PASSWORD_64_[A-Z]+\}$/)
    expect(CLIENT_TOKEN).to.match(/^\$\{SERVICE_PASSWORD_[A-Z]+\}$/)
  })

  it('builds in the root folder, publishes no port, and allows the services to stop', () => {
    expect(text).to.match(/^ {2}build: \.$/m)
    const [, seconds] = /^ {2}stop_grace_period: (\d+)s$/m.exec(text) ?? []
    expect(Number(seconds)).to.be.at.least(STOP_SECONDS)
    expect(text).not.to.match(/^ +ports:/m)
  })
})

describe('the guides of the platforms', () => {
  const guides = ['heroku', 'platforms', 'kubernetes', 'systemd'].map((name) => `docs/how-to/${name}.md`)
  // Of the apt buildpack.
  const OTHERS = ['LD_LIBRARY_PATH']

  for (const guide of guides)
    it(`names variables that Sluice knows: ${guide}`, () => {
      const blocks = [...readFileSync(guide, 'utf8').matchAll(/^ *```\w*\n([\s\S]*?)^ *```/gm)].map(
        ([, code]) => code,
      )
      const names = [...blocks.join('\n').matchAll(/(?<![\w$-])([A-Z][A-Z0-9_]{3,})=/g)].map(
        ([, name = '']) => name,
      )
      expect(names.filter((name) => !(name in VARIABLES) && !OTHERS.includes(name))).to.deep.equal([])
      expect(names).to.include('APP_SECRET')
    })

  it('have no secret in the arguments of kubectl and fly, which the history of the shell stores', () => {
    for (const guide of guides)
      expect(readFileSync(guide, 'utf8'), guide).not.to.match(/--from-literal|fly secrets set/)
  })

  it('name files that exist', () => {
    const text = guides.map((guide) => readFileSync(guide, 'utf8')).join('\n')
    const files = [...text.matchAll(/\/?(deploy\/[\w./-]+\.(?:json|toml|yaml|service))/g)].map(
      ([, file = '']) => file,
    )
    expect(files).to.have.length.above(8)
    for (const file of files) expect(() => readFileSync(file), file).not.to.throw()
  })
})
