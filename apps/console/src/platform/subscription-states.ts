export interface StatusWords {
  tone: 'good' | 'warning' | 'bad' | 'off';
  text: string;
}

/** Statuses of the platform and the service. The platform can add statuses without notice. */
const statuses: Record<string, StatusWords> = {
  enabled: { tone: 'good', text: 'Enabled' },
  waiting: { tone: 'warning', text: 'Waiting' },
  webhook_callback_verification_pending: { tone: 'warning', text: 'Being verified' },
  webhook_callback_verification_failed: { tone: 'bad', text: 'Address not verified' },
  notification_failures_exceeded: { tone: 'bad', text: 'Too many failed deliveries' },
  not_granted: { tone: 'warning', text: 'Not granted' },
  limit_reached: { tone: 'bad', text: 'No capacity' },
  refused: { tone: 'bad', text: 'Refused' },
  authorization_revoked: { tone: 'bad', text: 'Consent revoked' },
  moderator_removed: { tone: 'bad', text: 'Moderator removed' },
  user_removed: { tone: 'bad', text: 'User removed' },
  version_removed: { tone: 'bad', text: 'Version removed' },
};

export function describeStatus(status: string): StatusWords {
  return statuses[status] ?? { tone: 'bad', text: status.replaceAll('_', ' ') };
}
