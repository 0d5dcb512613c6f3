import { SluiceError } from '../../http/problem.ts'

/** What a queue accepts. The service checks it again by the rules of the link. */
export interface UploadRules {
  /** As `accept` of an input: `image/*,.pdf`. Default: all types. */
  accept?: string | undefined
  /** Largest file, in bytes. Default: no limit. */
  maxBytes?: number | undefined
}

/** Why a file is refused before it is sent, with the codes of the service. Undefined for an accepted file. */
export function refusal(
  { name, type, size }: Pick<File, 'name' | 'type' | 'size'>,
  { accept = '', maxBytes = Number.POSITIVE_INFINITY }: UploadRules,
): SluiceError | undefined {
  if (size > maxBytes)
    return refused('too_large', `The file has ${size} bytes. The limit is ${maxBytes}.`, { maxBytes })
  const expected = accept.split(',').flatMap((one) => one.trim().toLowerCase() || [])
  if (expected.length === 0 || expected.some((one) => matches(one, { name: name.toLowerCase(), type })))
    return
  return refused('type_not_allowed', `The type of ${name} is not accepted.`, {
    expected: expected.join(', '),
  })
}

function matches(accepted: string, { name, type }: { name: string; type: string }): boolean {
  if (accepted.startsWith('.')) return name.endsWith(accepted)
  if (accepted.endsWith('/*')) return type.startsWith(accepted.slice(0, -1))
  return accepted === '*' || type === accepted
}

function refused(code: string, detail: string, problem: { maxBytes?: number; expected?: string }) {
  return new SluiceError(detail, { code, problem })
}
