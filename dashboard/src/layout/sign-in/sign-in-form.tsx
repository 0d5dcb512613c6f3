import { type FormEvent, useRef, useState } from 'react'
import { type Session, SluiceError } from '../../../../client/index.ts'
import { sluice } from '../../api/clients.ts'
import { SIGN_IN } from '../../texts/session/sign-in.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, PasswordInput } from '../../ui/forms/field.tsx'
import { Notice } from '../../ui/states.tsx'

/** Email address and password, or the password of the operator. */
export function SignInForm({
  email: given,
  onSignedIn,
}: {
  email?: string
  onSignedIn: (session: Session) => void
}) {
  const [isOperator, setOperator] = useState(false)
  const [email, setEmail] = useState(given ?? '')
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isTried, setTried] = useState(false)
  const [failure, setFailure] = useState<string>()
  const passwordField = useRef<HTMLInputElement>(null)

  const submit = async () => {
    setTried(true)
    setFailure(undefined)
    if (!password || (!isOperator && !email.trim())) return
    setBusy(true)
    try {
      onSignedIn(await sluice.sessions.signIn(isOperator ? { password } : { email: email.trim(), password }))
    } catch (error) {
      setFailure(messageOf(error, isOperator))
      passwordField.current?.select()
      passwordField.current?.focus()
    } finally {
      setBusy(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void submit()
  }
  return (
    <form onSubmit={onSubmit} noValidate className="flex flex-col gap-4">
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
      <Button type="submit" look="primary" size="large" isBusy={isBusy}>
        {SIGN_IN.submit}
      </Button>
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
    </form>
  )
}

function messageOf(error: unknown, isOperator: boolean): string {
  if (!(error instanceof SluiceError)) return String(error)
  if (error.status === 401) return isOperator ? SIGN_IN.wrongOperator : SIGN_IN.wrong
  if (error.status === 429) return SIGN_IN.tooMany(error.retryAfter)
  return error.message
}
