import asyncio
import datetime
import ipaddress
import socket
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from nats.aio.client import Client

from carillon.connection import Errors, asks_for_certificate, options, why_not
from carillon.settings import Settings


@pytest.fixture
def certificate(tmp_path):
    """The files of a certificate that is its own authority, for the server and the client, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return str(cert_file), str(key_file)


@pytest.fixture
def server(certificate):
    """A NATS server that asks for a client certificate, and records the subject of each."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate[0])
    context.load_cert_chain(*certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    clients = []

    def serve():
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return  # it is closed
            plain.sendall(b'INFO {"server_id":"x","version":"2.12.0","headers":true,"max_payload":1048576,"tls_required":true,"tls_verify":true}\r\n')
            try:
                with context.wrap_socket(plain, server_side=True) as tls:
                    clients.append(tls.getpeercert()["subject"])
                    for line in tls.makefile("rb"):
                        if line.startswith(b"PING"):
                            tls.sendall(b"PONG\r\n")
            except OSError:
                plain.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"nats://127.0.0.1:{listener.getsockname()[1]}", clients
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def connect(settings):
    """Connects once. It returns why there is no connection."""
    async def go():
        nc, errors = Client(), Errors(settings)
        try:
            await nc.connect(**options(settings, errors))
        except Exception as e:  # noqa: BLE001 which error it is depends on when the server's refusal comes
            return why_not(errors.last or e, settings, asks_for_certificate(nc))
        await nc.close()
        return None

    return asyncio.run(go())


def test_an_executor_connects_with_a_client_certificate(server, certificate):
    url, clients = server
    assert connect(Settings().complete({
        "CARILLON_GROUP": "billing", "CARILLON_NATS": url, "CARILLON_NATS_CA": certificate[0], "CARILLON_NATS_CERT": certificate[0], "CARILLON_NATS_KEY": certificate[1],
    })) is None
    assert clients == [((("commonName", "test"),),)]


def test_without_a_client_certificate_it_says_that_nats_asks_for_one(server, certificate):
    url, clients = server
    why = connect(Settings().complete({"CARILLON_GROUP": "billing", "CARILLON_NATS": url, "CARILLON_NATS_CA": certificate[0]}))
    assert "asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY" in why
    assert clients == []
