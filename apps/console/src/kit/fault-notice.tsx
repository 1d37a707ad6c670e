import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { describeFault, isTemporary } from '../api/api-error.js';

interface FaultNoticeProps {
  error: unknown;
  /** Whether the page retries by itself after a temporary fault. */
  isRepeated?: boolean;
  /** Adds a button that retries the failed action. */
  onRetry?: (() => void) | undefined;
}

/** Shows what went wrong and what to do. */
export function FaultNotice({ error, isRepeated = false, onRetry }: FaultNoticeProps) {
  const { title, detail, advice } = describeFault(error);
  return (
    <Alert color="red" variant="outline" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
      <Text size="sm">{detail}</Text>
      <Group justify="space-between" mt="xs">
        <Text size="sm" c="dimmed">
          {advice}
          {isRepeated && isTemporary(error) && ' The page keeps trying.'}
        </Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
