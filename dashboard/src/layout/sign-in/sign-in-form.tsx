import { KeyRound } from 'lucide-react'
import { useRef, useState } from 'react'
import { type Session, SluiceError } from '../../../../client/index.ts'
import { installation } from '../../api/clients.ts'
import { organisationLabel, organisationUrl } from '../../api/organisation.ts'
import { hasPasskeys, passkeyMessage, signInWithPasskey } from '../../api/passkeys.ts'
import { PASSKEYS } from '../../texts/session/passkeys.ts'
import { SIGN_IN } from '../../texts/session/sign-in.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, PasswordInput } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { Notice } from '../../ui/states.tsx'

/** Email address and password, a passkey, or the password of the operator. */
export function SignInForm({
  email: given,
  from,
  onSignedIn,
}: {
  email?: string
  /** The page to show after a sign-in with the organisation, which leaves this page. */
  from?: string | undefined
  onSignedIn: (session: Session) => void
}) {
  const [isOperator, setOperator] = useState(false)
  const [email, setEmail] = useState(given ?? '')
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isTried, setTried] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  const passwordField = useRef<HTMLInputElement>(null)

  const submit = async () => {
    setTried(true)
    setFailure(undefined)
    if (!password || (!isOperator && !email.trim())) return
    setBusy(true)
    try {
      onSignedIn(
        await installation.sessions.signIn(isOperator ? { password } : { email: email.trim(), password }),
      )
    } catch (error) {
      setFailure(messageOf(error, isOperator))
      passwordField.current?.select()
      passwordField.current?.focus()
    } finally {
      setBusy(false)
    }
  }
  const askForPasskey = async () => {
    setFailure(undefined)
    setAsking(true)
    try {
      onSignedIn(await signInWithPasskey())
    } catch (error) {
      setFailure(
        error instanceof SluiceError && error.status === 429
          ? messageOf(error, false)
          : passkeyMessage(error),
      )
    } finally {
      setAsking(false)
    }
  }
  return (
    <Form onSubmit={submit}>
      {organisationLabel && <OrganisationButton label={organisationLabel} from={from} />}
      {!isOperator && (
        <Field label={SIGN_IN.email} error={isTried && !email.trim() && SIGN_IN.emailMissing}>
          <Input
            type="email"
            name="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
      )}
      <Field
        label={isOperator ? SIGN_IN.operatorPassword : SIGN_IN.password}
        hint={isOperator && SIGN_IN.withoutEmailHint}
        error={isTried && !password && SIGN_IN.passwordMissing}
      >
        <PasswordInput
          ref={passwordField}
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      {failure && <Notice tone="danger">{failure}</Notice>}
      <Button type="submit" look={organisationLabel ? 'secondary' : 'primary'} size="large" isBusy={isBusy}>
        {SIGN_IN.submit}
      </Button>
      {hasPasskeys && !isOperator && (
        <Button
          size="large"
          icon={<KeyRound aria-hidden="true" className="size-4" />}
          isBusy={isAsking}
          onClick={() => void askForPasskey()}
        >
          {PASSKEYS.signIn}
        </Button>
      )}
      <button
        type="button"
        onClick={() => {
          setOperator(!isOperator)
          setTried(false)
          setFailure(undefined)
        }}
        className="self-center rounded-sm px-2 pointer-coarse:min-h-10 text-accent-ink text-sm hover:underline"
      >
        {isOperator ? SIGN_IN.withEmail : SIGN_IN.withoutEmail}
      </button>
    </Form>
  )
}

/** The sign-in with the organisation, above the one with a password. */
function OrganisationButton({ label, from }: { label: string; from: string | undefined }) {
  return (
    <>
      <Button asChild look="primary" size="large">
        <a href={organisationUrl(from)}>
          <span className="min-w-0 truncate">{label}</span>
        </a>
      </Button>
      <div className="flex items-center gap-3 text-muted text-sm">
        <span aria-hidden="true" className="h-px flex-1 bg-line" />
        {SIGN_IN.or}
        <span aria-hidden="true" className="h-px flex-1 bg-line" />
      </div>
    </>
  )
}

function messageOf(error: unknown, isOperator: boolean): string {
  if (!(error instanceof SluiceError)) return String(error)
  if (error.status === 401) return isOperator ? SIGN_IN.wrongOperator : SIGN_IN.wrong
  if (error.status === 429) return SIGN_IN.tooMany(error.retryAfter)
  return error.message
}
