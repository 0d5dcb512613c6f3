import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { FIRST_CLIENT_ID } from '../../../core/clients/client.ts'
import { splitTags } from '../../../core/imports/export-entry.ts'
import type { ImportOrigin, S3Origin } from '../../../core/imports/source.ts'
import { type Perform, subcommand } from '../leaf-command.ts'

/** What the command needs from its process. */
export interface ImportCommandOptions {
  perform: Perform
  /** The access keys of the bucket to import from; undefined when the environment has none. */
  importCredentials?: S3Origin['credentials']
}

interface Options {
  client: string
  folder?: string
  tags?: string[]
  concurrency?: number
  keepNames?: true
  aliases?: true
  dryRun?: true
  events: boolean
  map?: string
  json?: boolean
  endpoint?: string
  region?: string
  profile?: string
}

const HELP = `
The access keys of the bucket are read from IMPORT_ACCESS_KEY_ID and IMPORT_SECRET_ACCESS_KEY, else from --profile, else
they are those of the service. Run the same command again to continue an import: nothing is imported twice.`

/** Adds `import`. */
export function addImportCommand(
  sluice: Command,
  { perform, importCredentials: credentials }: ImportCommandOptions,
): void {
  subcommand(
    sluice,
    'import',
    'Import the files of another system as originals. Their source is not changed.',
  )
    .argument('<source>', 'a folder, s3://bucket/prefix, or an export file (CSV, JSON, JSON lines)')
    .option('--client <id>', 'ID of the client that gets the files', FIRST_CLIENT_ID)
    .option('--folder <folder>', 'folder for the files; the folders of the source are created below it')
    .option('--tags <tags>', 'tags for all files, separated by commas', splitTags)
    .option('--concurrency <n>', 'files in progress at the same time, 1 to 16 (default: 4)', places)
    .option('--keep-names', 'store the old path or URL of each file as its metadata importedFrom')
    .option(
      '--aliases',
      'set an alias with its old folder and name to each file, for the URLs of other services',
    )
    .option(
      '--map <file>',
      'write old and new URLs to this file: CSV if its name ends with .csv, else JSON lines',
    )
    .option('--dry-run', 'check the files, but store nothing')
    .option('--no-events', 'emit no events, and do not count the uploads as usage')
    .option('--endpoint <url>', 'S3: URL of an S3-compatible store')
    .option('--region <region>', 'S3: region of the bucket')
    .option('--profile <name>', 'S3: profile of the AWS configuration files, on the machine of the server')
    .addHelpText('after', HELP)
    .action((source: string, { json = false, map, ...options }: Options) =>
      perform(
        'import',
        {
          origin: originOf(source, { ...options, credentials }),
          clientId: options.client,
          folder: options.folder,
          tags: options.tags,
          concurrency: options.concurrency,
          withOldNames: options.keepNames,
          withAliases: options.aliases,
          isDryRun: options.dryRun,
          isSilent: !options.events,
        },
        { json, ...(map === undefined ? {} : { map }) },
      ),
    )
}

function originOf(
  source: string,
  {
    endpoint,
    region,
    profile,
    credentials,
  }: Pick<Options, 'endpoint' | 'region' | 'profile'> & Pick<S3Origin, 'credentials'>,
): ImportOrigin {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(source) ?? []
  // The server has another working directory.
  if (bucket === undefined) return { path: resolve(source) }
  return { s3: { bucket, prefix, endpoint, region, profile, credentials } }
}

function places(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= 16) return number
  throw new InvalidArgumentError(`expected a number from 1 to 16 but received "${text}"`)
}
