import { text } from 'node:stream/consumers'
import type { Command } from 'commander'

const SECRET_KEY_HELP = `
The secret access key is read from STORAGE_SECRET_ACCESS_KEY, else from standard input: arguments can be seen by others.`

/** Adds the options of a bucket in S3. */
export function withStorage(command: Command): Command {
  return command
    .option('--bucket <bucket>', 'in S3 or a compatible store')
    .option('--prefix <folder>', 'of the bucket; all of it when absent')
    .option('--endpoint <url>', "of a compatible store; Amazon's when absent")
    .option('--region <region>', 'us-east-1 when absent')
    .option('--path-style', 'the bucket in the path instead of the host name; many compatible stores want it')
    .option('--access-key-id <key>', 'its secret is read, see below')
    .option('--public-url <url>', 'where the bucket can be read, of a CDN for example')
    .addHelpText('after', SECRET_KEY_HELP)
}

/**
 * What they say of a bucket; undefined when none is named. What is missing ends the process, as wrong usage does.
 *
 * @param secret of the access key; when absent, it is read from standard input
 */
export async function settingsOf(
  { pathStyle: forcePathStyle, ...options }: Record<string, string | boolean | undefined>,
  { command, secret }: { command: Command; secret: string | undefined },
): Promise<object | undefined> {
  if (Object.keys(options).length === 0 && forcePathStyle === undefined) return undefined
  if (!options.bucket || !options.accessKeyId) command.error('error: expected --bucket and --access-key-id')
  const secretAccessKey = secret ?? (await standardInput(command))
  return { ...options, ...(forcePathStyle ? { forcePathStyle } : {}), secretAccessKey }
}

async function standardInput(command: Command): Promise<string> {
  if (process.stdin.isTTY)
    command.error('error: expected the secret access key in STORAGE_SECRET_ACCESS_KEY or on standard input')
  return (await text(process.stdin)).trim()
}
