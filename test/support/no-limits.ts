/** The environment of a service without the limits that tests would exceed. */
export const NO_LIMITS = {
  CONNECTIONS_PER_ADDRESS: '0',
  ZIP_RATE_LIMIT: '0',
  UPLOAD_RATE_LIMIT: '0',
  DERIVATIVE_RATE_LIMIT: '0',
  DERIVATIVE_RATE_LIMIT_PER_IP: '0',
  CPU_RATE_LIMIT: '0',
  CPU_RATE_LIMIT_PER_IP: '0',
  MEDIA_RATE_LIMIT: '0',
  MEDIA_RATE_LIMIT_PER_IP: '0',
}
