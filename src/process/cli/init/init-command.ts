import { type Command, Option } from 'commander'
import { usageErrors } from '../arguments.ts'
import { PLATFORM_NAMES } from './platforms.ts'
import { DEFAULT_FOLDER, type Given, hostName } from './questions.ts'

/** The options of the command line. `yes` requests nothing. */
export type InitArguments = Given & { yes?: boolean }

/** Adds `init`. */
export function addInitCommand(sluice: Command, init: (given: InitArguments) => Promise<void>): void {
  sluice
    .command('init')
    .description(
      'Write a folder with everything that an installation needs: the files of its platform, secrets, settings and a README with all commands. On a terminal, it requests what is not given.',
    )
    .argument('[folder]', `a new or an empty folder (default: ${DEFAULT_FOLDER})`)
    .addOption(new Option('--platform <name>', 'where it runs (default: compose)').choices(PLATFORM_NAMES))
    .addOption(new Option('--storage <place>', 'where files are stored').choices(['disk', 's3']))
    .option('--domain <host>', 'host name of the service, such as files.example.com', (text) =>
      usageErrors(() => hostName(text)),
    )
    .option('--yes', 'request nothing: the defaults for what is not given')
    .option('--start', 'start the service: for compose and node')
    .action((folder: string | undefined, options: Omit<InitArguments, 'folder'>) =>
      init({ ...options, folder }),
    )
}
