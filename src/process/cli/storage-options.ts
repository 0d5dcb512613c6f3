import { text } from 'node:stream/consumers'
import type { Command } from 'commander'

const SECRET_KEY_HELP = `
The secret access key is read from STORAGE_SECRET_ACCESS_KEY, else from standard input: other users can see arguments.`

/** Adds the options of an S3 bucket. */
export function withStorage(command: Command): Command {
  return command
    .option('--bucket <bucket>', 'bucket in S3 or a compatible store')
    .option('--prefix <folder>', 'folder of the bucket; the whole bucket when unset')
    .option('--endpoint <url>', "endpoint of a compatible store; Amazon's when unset")
    .option('--region <region>', 'region of the bucket; us-east-1 when unset')
    .option(
      '--path-style',
      'put the bucket in the path instead of the host name; many compatible stores need this',
    )
    .option('--access-key-id <key>', 'access key ID; its secret is read as described below')
    .option('--public-url <url>', 'public URL of the bucket, for example of a CDN')
    .addHelpText('after', SECRET_KEY_HELP)
}

/**
 * The bucket of these options; undefined when no option is set. A missing option is wrong usage and ends the process.
 *
 * @param secret the secret access key; read from standard input when undefined
 */
export async function settingsOf(
  { pathStyle: forcePathStyle, ...options }: Record<string, string | boolean | undefined>,
  { command, secret }: { command: Command; secret: string | undefined },
): Promise<object | undefined> {
  if (Object.keys(options).length === 0 && forcePathStyle === undefined) return undefined
  if (!options.bucket || !options.accessKeyId)
    command.error('error: --bucket and --access-key-id are required')
  const secretAccessKey = secret ?? (await standardInput(command))
  return { ...options, ...(forcePathStyle ? { forcePathStyle } : {}), secretAccessKey }
}

async function standardInput(command: Command): Promise<string> {
  if (process.stdin.isTTY)
    command.error(
      'error: the secret access key is required in STORAGE_SECRET_ACCESS_KEY or on standard input',
    )
  return (await text(process.stdin)).trim()
}
