import { ROLES, type Role } from './member.ts'

/** Which value of a claim grants which role. The value `*` grants it to each person. */
export interface RoleRule {
  value: string
  role: Role
}

/** The highest role that the values of a claim grant; undefined for no role. */
export function grantedRole(values: readonly string[], rules: readonly RoleRule[]): Role | undefined {
  const granted = rules.filter(({ value }) => value === '*' || values.includes(value)).map(({ role }) => role)
  return ROLES.findLast((role) => granted.includes(role))
}

/**
 * The texts of a claim: one text, or a list of texts. Anything else has no texts.
 *
 * @param name of the claim, or a path into an object: `realm_access.roles`. A claim whose name has dots is found first
 */
export function textsOfClaim(claims: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : name.split('.').reduce(member, claims)
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null && Object.hasOwn(of, name)
    ? (of as Record<string, unknown>)[name]
    : undefined
}
