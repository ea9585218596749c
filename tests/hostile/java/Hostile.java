import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** A hostile bot in Java. Its file `attack` says what it tries; then it answers like tests/hostile/prologue.txt. */
public final class Hostile {
    private static final List<String> GOT = new ArrayList<>();

    private static String goal(String line, String name) {
        return line.replaceAll(".*\"" + name + "\": \"?([^\",}]*).*", "$1");
    }

    private static void attempt(String what, Callable<?> work) {
        try {
            GOT.add(what + ": " + work.call());
        } catch (Exception | LinkageError contained) {
            return;
        }
    }

    private static void reach(String line) {
        Path sentinel = Path.of(goal(line, "sentinel")), folder = Path.of(goal(line, "directory"));
        int port = Integer.parseInt(goal(line, "port"));
        long worker = Long.parseLong(goal(line, "worker"));
        attempt("shell", () -> new ProcessBuilder("/bin/sh", "-c", "id").start().pid());
        attempt("exec", () -> Runtime.getRuntime().exec("/bin/true").waitFor());
        for (String file : new String[] {sentinel.toString(), "/etc/passwd", "/proc/self/maps", "/proc/cpuinfo", "/proc/self/mem"}) {
            attempt("read " + file, () -> Files.readAllBytes(Path.of(file)).length);
        }
        for (Path file : new Path[] {sentinel, folder.resolve("new"), Path.of("/tmp/new"), Path.of("new"), Path.of("attack")}) {
            attempt("write " + file, () -> Files.writeString(file, "x"));
            attempt("open " + file, () -> FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE));
        }
        attempt("delete", () -> { Files.delete(Path.of("attack")); return "deleted"; });
        attempt("link", () -> Files.createLink(folder.resolve("link"), Path.of("attack")));
        attempt("temporary file", () -> Files.createTempFile("a", "b"));
        attempt("list", () -> Files.list(folder.getParent()).findFirst().orElseThrow());
        attempt("connect", () -> new Socket(InetAddress.getLoopbackAddress(), port).getPort());
        attempt("listen", () -> new ServerSocket(0).getLocalPort());
        attempt("datagrams", () -> new DatagramSocket().getLocalPort());
        attempt("local socket", () -> SocketChannel.open(StandardProtocolFamily.UNIX));
        attempt("pipe", () -> Pipe.open());
        attempt("name", () -> InetAddress.getAllByName("localhost.localdomain"));
        attempt("kill", () -> ProcessHandle.of(worker).map(ProcessHandle::destroyForcibly).filter(done -> done).orElseThrow());
        attempt("processes", () -> ProcessHandle.allProcesses().filter(other -> other.pid() != ProcessHandle.current().pid()).findAny().orElseThrow());
        attempt("inner unsafe", () -> {
            var field = Class.forName("jdk.internal.misc.Unsafe").getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return field.get(null);
        });
        attempt("a library of the host", () -> { System.load(sentinel.toString()); return "loaded"; });
    }

    private static void threads(int number) {
        for (int thread = 0; thread < number; thread++) {
            new Thread(() -> {
                try {
                    Thread.sleep(1_000_000);
                } catch (InterruptedException ignored) {
                    return;
                }
            }).start();
        }
    }

    @SuppressWarnings("InfiniteLoopStatement")
    private static void spin() {
        for (long number = 0; ; number++) {
            Thread.onSpinWait();
        }
    }

    private static int deep(int depth) {
        return deep(depth + 1) + 1;
    }

    public static void main(String[] words) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        String line = lines.readLine();
        List<Object> hoard = new ArrayList<>();
        switch (Files.readString(Path.of("attack"))) {
            case "reach":
                reach(line);
                break;
            case "native":
                attempt("native calls", () -> { System.load(Path.of("native.so").toAbsolutePath().toString()); return System.getProperty("none"); });
                GOT.clear(); // What it reaches ends the process.
                break;
            case "a thousand threads":
                threads(1000);
                break;
            case "threads that go on":
                for (int thread = 0; thread < 4; thread++) {
                    Thread spinning = new Thread(Hostile::spin);
                    spinning.setDaemon(true);
                    spinning.start();
                }
                break;
            case "compute in four threads":
                for (int thread = 0; thread < 4; thread++) {
                    new Thread(Hostile::spin).start();
                }
                spin();
                break;
            case "heap":
                while (true) {
                    hoard.add(new byte[1 << 20]);
                }
            case "memory outside the heap":
                while (true) {
                    hoard.add(ByteBuffer.allocateDirect(1 << 20).put(0, (byte) 1));
                }
            case "stack":
                attempt("depth", () -> { try { return deep(0); } catch (StackOverflowError contained) { throw new IOException(contained); } });
                break;
            default:
                break;
        }
        System.out.println("[" + (GOT.isEmpty() ? "" : "\"" + String.join(" | ", GOT).replace("\"", "'").replace("\n", " ") + "\"") + "]");
        for (line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(line);
        }
    }
}
