import type { Command, Commands } from '../../core/command.ts'
import type { AuditLog } from '../../core/ports/audit-log.ts'

/** What an entry says about a command, from its valid arguments and its result. Absent when it has changed nothing. */
interface Described {
  action: string
  client?: string
  target?: string
}

// biome-ignore lint/suspicious/noExplicitAny: each command has validated its arguments, and returns its own result.
type Describe = (args: any, result: any) => Described | undefined

const ofClient =
  (action: string): Describe =>
  ({ id }) => ({ action, client: id, target: id })

// The actions are those of the same changes over HTTP.
const DESCRIBED: Readonly<Record<string, Describe>> = {
  'client create': (_, { id }) => ({ action: 'client.create', client: id, target: id }),
  'client set': ofClient('client.update'),
  'client remove': ofClient('client.delete'),
  'client partition': (args, result) =>
    result.isChanged ? ofClient('client.partition')(args, result) : undefined,
  'client storage': ({ id, storage }) => ({
    action: storage ? 'storage.set' : 'storage.remove',
    client: id,
    target: id,
  }),
  'client rotate': ofClient('secret.rotate'),
  'client secret add': ofClient('secret.create'),
  'client secret remove': ({ id, secretId }) => ({ action: 'secret.delete', client: id, target: secretId }),
  'client key add': ofClient('url-key.create'),
  'client key remove': ({ id, version }) => ({
    action: 'url-key.delete',
    client: id,
    target: String(version),
  }),
  'derivatives delete': ({ clientId, path }) => ({
    action: 'derivatives.delete',
    client: clientId,
    target: path,
  }),
}

/** The same commands. Each successful one that changes a client is added to the audit log. */
export function auditedCommands(commands: Commands, audit: AuditLog): Commands {
  return Object.fromEntries(
    Object.entries(commands).map(([name, run]) => {
      const describe = DESCRIBED[name]
      return [name, describe ? audited(run, { describe, audit }) : run]
    }),
  )
}

function audited(command: Command, { describe, audit }: { describe: Describe; audit: AuditLog }): Command {
  return async (args, run) => {
    const result = await command(args, run)
    const described = describe(args, result)
    if (described) audit.add({ member: null, address: 'command line', ...described })
    return result
  }
}
