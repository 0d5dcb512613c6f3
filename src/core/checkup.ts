/** The result of one check of the installation, for the operator. */
export interface Checkup {
  /** What was checked: `Redis`. */
  name: string
  /** `problem`: the service does not start or does not work. `warning`: it works with a restriction or a risk. */
  state: 'ok' | 'warning' | 'problem'
  /** What was found or measured. No secrets. */
  found: string
  /** What the operator should do. Absent when the state is `ok`. */
  advice?: string
}

/** A measurement of a check; several of them form one result. */
export type Finding = Omit<Checkup, 'name'>

const SEVERITY = ['ok', 'warning', 'problem'] as const

/** One result for several findings: the worst state, the texts of all, and the advice of those that are not `ok`. */
export function checkupOf(name: string, findings: readonly Finding[]): Checkup {
  const advice = findings.flatMap((finding) => (finding.advice === undefined ? [] : [finding.advice]))
  return {
    name,
    state: SEVERITY.findLast((state) => findings.some((finding) => finding.state === state)) ?? 'ok',
    found: findings.map(({ found }) => found).join('; '),
    ...(advice.length > 0 ? { advice: [...new Set(advice)].join(' ') } : {}),
  }
}
