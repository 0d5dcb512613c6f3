import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { BackupPlace } from '../../../core/backup/place.ts'
import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { instant } from '../arguments.ts'
import { type Perform, subcommand } from '../leaf-command.ts'

const DAY_MS = 24 * 3600 * 1000

const PLACE = 'a folder, or s3://bucket/prefix'

const CREDENTIALS = `
The connection to s3:// is read from BACKUP_S3_ENDPOINT, BACKUP_S3_REGION, BACKUP_ACCESS_KEY_ID, BACKUP_SECRET_ACCESS_KEY
and BACKUP_SESSION_TOKEN. What is not set is that of the service.`

const AGAIN = `
Run the same command again to continue after an interruption.`

/** Adds `backup`, `restore`, `migrate` and `migrate-state`. */
export function addBackupCommands(sluice: Command, perform: Perform): void {
  subcommand(
    sluice,
    'backup',
    'Copy records and originals of all clients to another place, unless it has them. The service may run.',
  )
    .argument('<target>', PLACE, place)
    .option(
      '--keep <days>',
      'delete backups that are older than this number of days, except the newest one',
      days,
    )
    .option('--verify', 'also read all files of the backup, and compare their SHA-256')
    .addHelpText('after', `${CREDENTIALS}${AGAIN}`)
    .action((target: BackupPlace, { keep: keepMs, verify = false, json }) =>
      perform('backup', { place: target, keepMs, verify }, { json }),
    )
  subcommand(
    sluice,
    'restore',
    'Copy the files of a backup into the bucket of this installation, except those that it has.',
  )
    .argument('<source>', PLACE, place)
    .argument('[keys...]', 'only these files, and folders that end with a slash; no records of clients')
    .option('--client <id>', 'only files of this client; default with keys: the first one')
    .option(
      '--at <date>',
      'the newest backup of this day or instant, or of an earlier one; default: the newest',
      until,
    )
    .option('--list', 'list the backups, and restore nothing')
    .option('--overwrite', 'replace files that have other bytes')
    .addHelpText('after', `${CREDENTIALS}${AGAIN}`)
    .action((source: BackupPlace, keys: string[], { client, at, list, overwrite = false, json }) =>
      list
        ? perform('restore --list', { place: source }, { json })
        : perform('restore', { place: source, at, overwrite, only: selection(keys, client) }, { json }),
    )
  addMigrate(sluice, perform)
  subcommand(
    sluice,
    'migrate-state',
    'Copy what a stopped service without Redis has in its DATA_DIR, apart from files, into the Redis of REDIS_URL.',
  )
    .argument('<folder>', 'its DATA_DIR')
    .addHelpText(
      'after',
      `\nUses of links, usage, the audit log, the delivery log, and jobs that wait.${AGAIN}`,
    )
    .action((folder: string, { json }) => perform('migrate-state', { dataDir: resolve(folder) }, { json }))
}

function selection(keys: string[], client?: string): { clientId: string; keys: string[] } | undefined {
  return keys.length > 0 || client !== undefined ? { clientId: client ?? FIRST_CLIENT_ID, keys } : undefined
}

/** Adds `migrate`. */
function addMigrate(sluice: Command, perform: Perform): void {
  subcommand(
    sluice,
    'migrate',
    'Copy everything to another bucket or disk and follow changes, until this service can use it instead.',
  )
    .requiredOption('--to <target>', `${PLACE}: an empty one, or that of an earlier run`, place)
    .option('--without-derivatives', 'leave out derivatives, which are rendered again')
    .addHelpText('after', `${CREDENTIALS}${AGAIN}`)
    .action(({ to, withoutDerivatives = false, json }) =>
      perform('migrate', { place: to, withoutDerivatives }, { json }),
    )
}

/** A folder of this machine, or `s3://bucket/prefix`. */
function place(text: string): BackupPlace {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(text) ?? []
  if (bucket !== undefined) return { bucket, prefix }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text) || text === '')
    throw new InvalidArgumentError(`expected ${PLACE} but received "${text}"`)
  return { path: resolve(text) }
}

/** A number of days, in milliseconds. */
function days(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text) * DAY_MS
  throw new InvalidArgumentError(`expected a number of days from 1 but received "${text}"`)
}

/** An instant, in milliseconds since 1970; for a day, its last millisecond in UTC. */
function until(text: string): number {
  return instant(text) + (text.includes('T') ? 0 : DAY_MS - 1)
}
