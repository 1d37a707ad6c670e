import { Alert, Button, Container, Group, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { FaultNotice } from '../kit/fault-notice.js';
import { isMissingFile } from './missing-file.js';

/** Replaces a page that failed to render. The navigation stays. */
export function FaultPage({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      {isMissingFile(error) ? <OldPageNotice /> : <FaultNotice error={error} onRetry={reset} />}
    </Container>
  );
}

function OldPageNotice() {
  return (
    <Alert
      color="orange"
      variant="outline"
      icon={<IconRefresh aria-hidden />}
      title="Reload this page"
      role="alert"
    >
      <Text size="sm">
        A part of this page could not be loaded. Probably the service was upgraded after you opened the page.
      </Text>
      <Group justify="flex-end" mt="xs">
        <Button size="xs" variant="default" onClick={() => location.reload()}>
          Reload
        </Button>
      </Group>
    </Alert>
  );
}
