import { type Command, InvalidArgumentError } from 'commander'
import { subcommand } from '../leaf-command.ts'

export interface UpgradeArguments {
  from?: string
  check?: boolean
  json?: boolean
}

/** The exit code of `upgrade --check` when the operator must do something before or after the upgrade. */
export const STEPS_NEEDED = 3

/** Adds `upgrade`. */
export function addUpgradeCommand(
  sluice: Command,
  upgrade: (folder: string, given: UpgradeArguments) => Promise<void>,
): void {
  subcommand(
    sluice,
    'upgrade',
    'Print what has changed since the version of a folder: first what needs a step of yours, then the commands, and whether there is a way back. It changes nothing.',
  )
    .argument('[folder]', 'a folder of sluice init', '.')
    .option('--from <version>', 'the version before the upgrade, for any other installation', version)
    .option('--check', `print one line. Exit code ${STEPS_NEEDED} when a step of yours is needed`)
    .action((folder: string, given: UpgradeArguments) => upgrade(folder, given))
}

function version(text: string): string {
  const [, core] = /^v?(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:-[\w.-]+)?(?:\+unreleased)?)$/.exec(text) ?? []
  if (core === undefined)
    throw new InvalidArgumentError(`expected a version like 1.0.0 but received ${JSON.stringify(text)}`)
  return core
}
