import { randomBytes } from 'node:crypto'
import { newClientToken, newSecretToken } from '../../../core/clients/client.ts'
import type { Choices, Platform } from './platforms.ts'

/** In the place of a value that only the operator knows. The check before a start refuses it, so it cannot be forgotten. */
export const FILL_IN = 'FILL_IN'

/** Names of variables with their values. */
export type Settings = Readonly<Record<string, string>>

/** The files of the package that a `.env` is made from. */
export interface Templates {
  /** `.env.example`. */
  example: string
  /** `app.json`. */
  heroku: string
  /** `deploy/render/render.yaml`. */
  render: string
}

/** Only these variables are read from `.env` there. The others are in another file of the platform. */
const CLOSED: ReadonlySet<Platform> = new Set(['render', 'kubernetes'])
/** Variables that another file of the platform has, or that have no effect there. */
const ELSEWHERE: Record<Platform, readonly string[]> = {
  compose: ['PORT', 'DATA_DIR'],
  node: [],
  systemd: ['DATA_DIR'],
  heroku: ['PORT', 'DATA_DIR', 'REDIS_URL', 'METRICS_PORT'],
  fly: ['PORT', 'DATA_DIR', 'TRUST_PROXY', 'METRICS_PORT'],
  render: [],
  kubernetes: [],
}
const BUCKET_KEYS: Settings = { AWS_ACCESS_KEY_ID: FILL_IN, AWS_SECRET_ACCESS_KEY: FILL_IN }
const BUCKET: Settings = { S3_BUCKET: FILL_IN, AWS_REGION: FILL_IN, ...BUCKET_KEYS }

/** The values of `.env` for these choices, with new secrets. @param app a name of `a-z`, `0-9` and `-` */
export function settingsOf(
  { platform, storage, domain }: Choices,
  { app, templates }: { app: string; templates: Templates },
): Settings {
  const tokens = { CLIENT_TOKEN: newClientToken(), SECRET_CLIENT_TOKEN: newSecretToken() }
  const secrets = { ...tokens, APP_SECRET: randomBytes(32).toString('hex') }
  const own = domain === undefined ? undefined : `https://${domain}`
  // A domain of its own needs a proxy for its certificate.
  const local = { BASE_URL: own ?? 'http://localhost:3000', TRUST_PROXY: own ? '1' : '0' }
  // Only the proxy reaches the service.
  const host: Settings = own ? { HOST: '127.0.0.1' } : {}
  const bucket = storage === 's3' ? BUCKET : {}
  switch (platform) {
    case 'compose':
      return { ...local, ...secrets, ...(storage === 's3' ? { AWS_SECRET_ACCESS_KEY: randomSecret() } : {}) }
    case 'node':
      return { PORT: '3000', ...local, ...host, DATA_DIR: './data', ...secrets, ...bucket }
    case 'systemd':
      return { PORT: '3000', ...local, ...host, ...secrets, ...bucket }
    case 'heroku':
      return { ...(own ? { BASE_URL: own } : {}), ...secrets, ...herokuSettings(templates.heroku) }
    case 'fly':
      return { BASE_URL: own ?? `https://${app}.fly.dev`, ...secrets, REDIS_URL: FILL_IN, ...BUCKET }
    case 'render':
      return requestedByRender(templates.render, { ...tokens, BASE_URL: own ?? FILL_IN })
    case 'kubernetes':
      return { ...secrets, REDIS_URL: FILL_IN, ...BUCKET_KEYS }
  }
}

/** The text of `.env`: these settings, then the other ones of the example as comments. */
export function dotenvText(
  settings: Settings,
  { platform, example }: { platform: Platform; example: string },
): string {
  const [, ...paragraphs] = example.trimEnd().split('\n\n')
  const written = new Set<string>()
  const parts = paragraphs.flatMap((paragraph) => {
    const lines = paragraph.split('\n').flatMap((line) => {
      const [, name, value] = /^#?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
      if (name === undefined) return [line]
      const own = settings[name]
      if (own !== undefined) written.add(name)
      if (own !== undefined) return [`${name}=${own}`]
      return CLOSED.has(platform) || ELSEWHERE[platform].includes(name) ? [] : [`#${name}=${value}`]
    })
    return lines.some((line) => /^#?[A-Z]/.test(line)) ? [lines.join('\n')] : []
  })
  const rest = Object.entries(settings).filter(([name]) => !written.has(name))
  if (rest.length > 0)
    parts.push(`# Further settings of this platform\n${rest.map((pair) => pair.join('=')).join('\n')}`)
  return `${[HEADER, ...parts].join('\n\n')}\n`
}

/** The names of the variables whose value is missing. */
export function missingIn(settings: Settings): string[] {
  return Object.keys(settings).filter((name) => settings[name] === FILL_IN)
}

const HEADER = `# Settings and secrets of this installation. README.md has the commands that read them. Never commit this file.
# In a shell, with Docker Compose and with systemd, a value with spaces or $ needs single quotes.`

function randomSecret(): string {
  return randomBytes(20).toString('hex')
}

/** The variables of app.json that have a value, and those that are required without one. */
function herokuSettings(json: string): Settings {
  const { env } = JSON.parse(json) as {
    env: Record<string, { value?: string; generator?: string; required?: boolean }>
  }
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, { value, generator, required = true }]) =>
      generator === undefined && required ? [[name, value ?? FILL_IN]] : [],
    ),
  )
}

/** The variables that Render requests when it creates the services. It generates the other secrets itself. */
function requestedByRender(blueprint: string, known: Settings): Settings {
  const names = [...blueprint.matchAll(/\{ key: (\w+), sync: false \}/g)].map(([, name = '']) => name)
  return Object.fromEntries(names.map((name) => [name, known[name] ?? FILL_IN]))
}
