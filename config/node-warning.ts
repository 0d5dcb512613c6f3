/**
 * Disables the warning of the AWS SDK that a later version will need a later Node: eight lines on stderr of every
 * process and command, which an operator cannot avoid. Call it before the SDK creates its first client.
 */
export function silenceNodeWarning(): void {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
}
