<?php
// A worker process in PHP, without libraries, for:
//
//     carillon executor --group reports --worker 'php examples/worker/worker.php'
//
// It does one run at a time; --worker-processes 4 makes that four.
declare(strict_types=1);

ini_set('display_errors', 'stderr'); // standard output is for messages

function say(array $message): void
{
    fwrite(STDOUT, json_encode($message, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE) . "\n");
}

$handlers = [
    'greet' => function (array $run): array {
        $name = $run['params']['name'] ?? 'world';
        say(['type' => 'log', 'id' => $run['id'], 'level' => 'info', 'text' => "greeting $name"]);
        return ['text' => "Hello, $name!"];
    },
    'report' => function (array $run): array {
        $rows = $run['params']['rows'] ?? 10;
        if (!is_int($rows)) {
            throw new InvalidArgumentException('rows must be a whole number');
        }
        for ($i = 1; $i <= $rows; $i++) {
            say(['type' => 'progress', 'id' => $run['id'], 'percent' => 100 * $i / $rows, 'text' => "row $i of $rows"]);
        }
        return ['rows' => $rows, 'day' => substr($run['fire_time'], 0, 10)];
    },
];

say(['type' => 'register', 'handlers' => [
    [
        'name' => 'greet',
        'description' => 'Greets somebody',
        'params_schema' => ['type' => ['object', 'null'], 'properties' => ['name' => ['type' => 'string']]],
    ],
    [
        'name' => 'report',
        'description' => 'Makes the report of a day',
        'params_schema' => ['type' => ['object', 'null'], 'properties' => ['rows' => ['type' => 'integer', 'minimum' => 1]]],
    ],
]]);

while (($line = fgets(STDIN)) !== false) {
    $message = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    if ($message['type'] === 'shutdown') {
        break;
    }
    if ($message['type'] !== 'run') {
        continue; // a cancel comes too late here: the executor kills a process that goes on
    }
    try {
        $result = $handlers[$message['handler']]($message);
        say(['type' => 'result', 'id' => $message['id'], 'result' => $result]);
    } catch (InvalidArgumentException $e) { // another try would not help
        say(['type' => 'error', 'id' => $message['id'], 'message' => $e->getMessage(), 'final' => true]);
    } catch (Throwable $e) {
        say(['type' => 'error', 'id' => $message['id'], 'message' => $e->getMessage()]);
    }
}
