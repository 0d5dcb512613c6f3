import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { SETTING_OPTIONS } from '../../core/clients/storage-settings.ts'

const SECRET_KEY_HELP = `
The secret access key is read from STORAGE_SECRET_ACCESS_KEY, else from standard input: other users can see arguments.`

const OPTIONS = SETTING_OPTIONS.map(({ name, flags, help }) => ({ name, option: new Option(flags, help) }))

/** Adds the options of an S3 bucket. */
export function withStorage(command: Command): Command {
  for (const { option } of OPTIONS) command.addOption(option)
  return command.addHelpText('after', SECRET_KEY_HELP)
}

/**
 * The bucket of these options; undefined when no option is set. A missing option is wrong usage and ends the process.
 *
 * @param secret the secret access key; read from standard input when undefined
 */
export async function settingsOf(
  options: Record<string, string | boolean | undefined>,
  { command, secret }: { command: Command; secret: string | undefined },
): Promise<object | undefined> {
  const given = OPTIONS.map(({ name, option }) => [name, options[option.attributeName()]] as const)
  const settings = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  if (Object.keys(settings).length === 0) return undefined
  if (!settings.bucket || !settings.accessKeyId)
    command.error('error: --bucket and --access-key-id are required')
  return { ...settings, secretAccessKey: secret ?? (await standardInput(command)) }
}

async function standardInput(command: Command): Promise<string> {
  if (process.stdin.isTTY)
    command.error(
      'error: the secret access key is required in STORAGE_SECRET_ACCESS_KEY or on standard input',
    )
  return (await text(process.stdin)).trim()
}
