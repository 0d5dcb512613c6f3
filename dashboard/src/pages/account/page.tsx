import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import { THEMES } from '../../layout/account-menu.tsx'
import { useSignOut } from '../../layout/sign-in/sign-out.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { Button } from '../../ui/button.tsx'
import { formatTime } from '../../ui/format.ts'
import { Segmented } from '../../ui/forms/choices.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { setTheme, useTheme } from '../../ui/theme.ts'
import { PasskeysCard } from './passkeys-card.tsx'
import { PasswordForm } from './password-form.tsx'
import { ProfileForm } from './profile-form.tsx'
import { ACCOUNT } from './texts.ts'

/** Name, password, passkeys, appearance and sessions of the signed-in member. */
export function AccountPage() {
  const { member, expiresAt } = useSession()
  const { theme } = useTheme()
  const signOut = useSignOut()
  const [isConfirming, setConfirming] = useState(false)
  // ADMIN_PASSWORD has no account.
  const isMember = member.email !== undefined
  return (
    <Page title={ACCOUNT.title}>
      <div className="flex max-w-2xl flex-col gap-5">
        {isMember ? (
          <>
            <Card title={ACCOUNT.profile}>
              <ProfileForm key={member.name} />
            </Card>
            {!member.organisation && (
              <>
                <Card
                  title={ACCOUNT.password}
                  description={member.passkeyOnly ? PASSKEYS.setText : ACCOUNT.passwordText}
                >
                  <PasswordForm />
                </Card>
                <PasskeysCard />
              </>
            )}
          </>
        ) : (
          <Card
            title={ACCOUNT.operatorTitle}
            description={ACCOUNT.operatorText}
            actions={
              <Button asChild>
                <Link to="/members">{ACCOUNT.toMembers}</Link>
              </Button>
            }
          />
        )}
        <Card title={ACCOUNT.appearance}>
          <Segmented
            label={ACCOUNT.appearance}
            value={theme}
            onChange={setTheme}
            options={THEMES.map(({ value, label, Icon }) => ({
              value,
              label: (
                <>
                  <Icon aria-hidden="true" />
                  {label}
                </>
              ),
            }))}
          />
        </Card>
        <Card title={ACCOUNT.sessions} description={ACCOUNT.expires(formatTime(expiresAt))}>
          <Button onClick={() => setConfirming(true)}>{ACCOUNT.everywhere}</Button>
        </Card>
      </div>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={ACCOUNT.everywhere}
        description={ACCOUNT.everywhereText}
        action={ACCOUNT.everywhere}
        onConfirm={() => signOut({ everywhere: true })}
      />
    </Page>
  )
}
