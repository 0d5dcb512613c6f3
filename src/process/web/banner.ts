/** The text that the server prints when it is ready: tokens, storage, and commands to paste. */
export function banner({
  baseUrl,
  files,
  index,
  credentials,
  showSecret,
}: {
  baseUrl: string
  /** Where files are stored, as text. */
  files: string
  index: string
  credentials: { clientToken: string; secretClientToken: string }
  /** False when the operator has set the secret: it need not be shown again, and this output may go to a log. */
  showSecret: boolean
}): string {
  const { clientToken } = credentials
  const secret = credentials.secretClientToken
  const header = showSecret ? `'Authorization: ${secret}'` : '"Authorization: $SECRET_CLIENT_TOKEN"'
  return `
Sluice is ready at ${baseUrl}

  client token (public, in URLs)   ${clientToken}
  secret client token              ${showSecret ? secret : 'as set in SECRET_CLIENT_TOKEN'}
  files                            ${files}
  index                            ${index}

Upload a picture, then open "src" with a transformation behind it:

  curl -H ${header} -F file=@photo.jpg ${baseUrl}/v1/upload
  curl -o small.webp '${baseUrl}/v1/image/upload/${clientToken}/<sourceName>?w=300&f=webp'
  curl -X DELETE -H ${header} ${baseUrl}/v1/upload/<s3PathOriginal>

`
}

/** A row of the configuration table. */
export interface DescribedVariable {
  name: string
  default: string
  expected: string
  help: string
}

/** The text of the web process's `--help`. */
export function usage(variables: readonly DescribedVariable[]): string {
  return `Sluice: file storage, transformation and delivery

Usage: npm start            install, build and start, on a fresh clone
       sh scripts/node.sh dist/src/main.js
                        start what is built
       node dist/src/main.js --check
                        only look at configuration and plugins, and end

${environmentOf(variables)}`
}

/** The text of the worker's `--help`. */
export function workerUsage(variables: readonly DescribedVariable[]): string {
  return `Sluice: a worker, which makes videos and sound for web processes on the same Redis

Usage: npm run worker       start what is built
       sh scripts/node.sh dist/src/worker.js
                        the same

It takes the environment of the web processes. REDIS_URL has to be set, and ffmpeg installed. As many of them as there are
share the work; SIGTERM puts back what one is making.

${environmentOf(variables)}`
}

function environmentOf(variables: readonly DescribedVariable[]): string {
  const rows = variables.map(
    ({ name, default: value, expected, help }) =>
      `  ${name}${value ? ` (default ${value})` : ''}\n      ${help}: ${expected}\n`,
  )
  return `Environment variables:\n\n${rows.join('')}`
}
