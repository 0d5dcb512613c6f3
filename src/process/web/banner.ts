import type { Log } from '../../core/log.ts'

/** The state of a server that has just started. */
export interface Greeting {
  version: string
  baseUrl: string
  bucket: { kind: 'disk' | 's3'; name: string }
  index: { kind: 'embedded' | 'redis'; name: string }
  clientToken: string
  /** The secret token, and the file that has it; undefined when the operator has set the token. */
  created: { secretClientToken: string; file: string } | undefined
  /** A link that creates the first owner of the console; undefined when it is not needed. */
  firstVisit: string | undefined
}

/**
 * Prints that the server is ready: a text with commands to paste for a person at a terminal, otherwise one line of the log.
 * The log never has the secret or the link.
 *
 * @param log logs the line whatever LOG_LEVEL is
 */
export function greet(
  greeting: Greeting,
  { isTerminal, write, log }: { isTerminal: boolean; write: (text: string) => void; log: Log },
): void {
  if (isTerminal) {
    write(banner(greeting))
    return
  }
  const { version, baseUrl, bucket, index, clientToken, created } = greeting
  const secretIn = created ? created.file : 'SECRET_CLIENT_TOKEN'
  const fields = { version, url: baseUrl, bucket: bucket.kind, index: index.kind, clientToken, secretIn }
  log.info(fields, `Sluice is ready at ${baseUrl}`)
}

function banner({ version, baseUrl, bucket, index, clientToken, created, firstVisit }: Greeting): string {
  const header = created
    ? `'Authorization: ${created.secretClientToken}'`
    : '"Authorization: $SECRET_CLIENT_TOKEN"'
  return `
Sluice is ready at ${baseUrl}

  version                          ${version}
  client token (public, in URLs)   ${clientToken}
  secret client token              ${created ? created.secretClientToken : 'the value of SECRET_CLIENT_TOKEN'}
  files                            ${bucket.name}
  index                            ${index.name}
  console                          ${baseUrl}/dashboard
${
  firstVisit === undefined
    ? ''
    : `
Open this link within 15 minutes to set up the console (later: npx sluice sign-in-link):

  ${firstVisit}
`
}
Upload an image, then append a transformation to its URL "src":

  curl -H ${header} -F file=@photo.jpg ${baseUrl}/v1/upload
  curl -o small.webp '${baseUrl}/v1/image/upload/${clientToken}/<sourceName>?w=300&f=webp'
  curl -X DELETE -H ${header} ${baseUrl}/v1/upload/<s3PathOriginal>

`
}

/** An environment variable with its texts. */
export interface DescribedVariable {
  name: string
  default: string
  expected: string
  help: string
}

/** The text of the web process's `--help`. */
export function usage(variables: readonly DescribedVariable[]): string {
  return `Sluice: file storage, transformation and delivery

Usage: npm start            install, build and start; for a fresh clone
       sh scripts/node.sh dist/src/main.js
                        start the existing build
       node dist/src/main.js --check
                        check configuration and plugins, then exit
       node dist/src/main.js --version
                        print the version

${environmentOf(variables)}`
}

/** The text of the worker's `--help`. */
export function workerUsage(variables: readonly DescribedVariable[]): string {
  return `Sluice worker: runs the media jobs of web processes on the same Redis

Usage: npm run worker       start the existing build
       sh scripts/node.sh dist/src/worker.js
                        the same

A worker needs the environment of the web processes, REDIS_URL, and ffmpeg. Several workers share the jobs. SIGTERM
returns the running jobs of a worker to the queue.

${environmentOf(variables)}`
}

function environmentOf(variables: readonly DescribedVariable[]): string {
  const rows = variables.map(
    ({ name, default: value, expected, help }) =>
      `  ${name}${value ? ` (default ${value})` : ''}\n      ${help}\n      Value: ${expected}\n`,
  )
  return `Environment variables:\n\n${rows.join('')}`
}
