import type { Finding } from '../../src/core/files/finding.ts'
import type { Service } from './service.ts'

/** Does a command of the operator; its findings as sorted text. */
export async function command(service: Service, name: string, args: object = {}) {
  const findings: Finding[] = []
  const report = async (item: unknown) => {
    const { finding } = item as { finding?: Finding }
    if (finding) findings.push(finding)
  }
  const work = service.app.commands[name]
  if (!work) throw new Error(`no command ${name}`)
  const answer = (await work(args, { signal: new AbortController().signal, report })) as Record<
    string,
    unknown
  >
  return { answer, findings: findings.map(({ kind, clientId, key }) => `${kind}: ${clientId} ${key}`).sort() }
}
