import type { Member, NewMemberLink } from '../../../../client/index.ts'
import { MEMBERS } from '../../texts/members.ts'
import { formatTime } from '../../ui/format.ts'
import type { ShownOnce } from '../../ui/overlays/once-dialog.tsx'

/** The link with which a member chooses a password. Its use removes the passkeys of the member. */
export function issuedLink({ link, expiresAt }: NewMemberLink, { name, passkeys }: Member): ShownOnce {
  const text = MEMBERS.linkText(name, formatTime(expiresAt))
  return {
    title: MEMBERS.linkTitle,
    value: link,
    label: MEMBERS.copyLink,
    hint: passkeys === undefined ? text : `${text} ${MEMBERS.linkRemovesPasskeys}`,
  }
}
