/**
 * Disables the warning of the AWS SDK that a later version of it needs a later Node: eight lines on stderr of every
 * process and command that do not help an operator. Call it before the SDK opens its first client, while modules are loaded:
 * when a thread of libvips reads the environment at the same time, the process may crash.
 *
 * @see setenv(3), MT-Unsafe
 */
export function silenceNodeWarning(): void {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
}
