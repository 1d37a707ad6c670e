import { Container } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { FaultNotice } from '../kit/fault-notice.js';

/** Replaces a page that failed. The navigation stays. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FaultNotice error={error} onRetry={isMissingScript(error) ? () => location.reload() : reset} />
    </Container>
  );
}

/** Whether a script of the page is missing. After an upgrade of the service, the scripts of the old page no longer exist. */
function isMissingScript(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes('dynamically imported module');
}
