"""The simulated Telegram as the real python-telegram-bot sees it: files both ways."""

import pytest
from telegram import InputMediaDocument
from telegram.error import BadRequest

pytestmark = pytest.mark.req("ADP-10")

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def test_a_document_is_sent_with_its_caption_and_can_be_fetched_again(telegram_sim, bot, ada):
    sent = await bot.send_document(
        ada.id, b"a,b\n1,2\n", caption="the *data*", parse_mode="MarkdownV2", filename="d.csv"
    )
    [shown] = telegram_sim.replies(ada)
    assert (shown.text, shown.file.name, shown.file.content) == ("the data", "d.csv", b"a,b\n1,2\n")
    assert [entity.type for entity in shown.entities] == ["bold"]
    assert (sent.document.file_name, sent.document.file_size, sent.caption) == ("d.csv", 8, "the data")
    file = await bot.get_file(sent.document.file_id)
    assert bytes(await file.download_as_bytearray()) == b"a,b\n1,2\n"


async def test_a_known_file_is_sent_again_by_its_id(telegram_sim, bot, ada):
    sent = await bot.send_document(ada.id, b"text", filename="t.txt")
    await bot.send_document(ada.id, sent.document.file_id)
    assert [shown.file.name for shown in telegram_sim.replies(ada)] == ["t.txt", "t.txt"]
    with pytest.raises(BadRequest, match=r"(?i)wrong remote file identifier"):
        await bot.send_document(ada.id, "no-such-id")


async def test_a_caption_holds_1024_units(bot, ada):
    await bot.send_document(ada.id, b"x", caption="😀" * 512, filename="x.txt")
    with pytest.raises(BadRequest, match=r"(?i)message caption is too long"):
        await bot.send_document(ada.id, b"x", caption="😀" * 512 + "x", filename="x.txt")


async def test_an_empty_file_and_a_photo_that_is_none_are_refused(telegram_sim, bot, ada):
    with pytest.raises(BadRequest, match=r"(?i)file must be non-empty"):
        await bot.send_document(ada.id, b"", filename="x.txt")
    with pytest.raises(BadRequest, match=r"(?i)image_process_failed"):
        await bot.send_photo(ada.id, b"not a picture")
    sent = await bot.send_photo(ada.id, PNG)
    assert sent.photo[-1].file_size == len(PNG)
    assert telegram_sim.replies(ada)[0].file_kind == "photo"


async def test_a_persons_file_is_downloaded(telegram_sim, bot, ada):
    telegram_sim.say(ada, "look", file=("photo", "p.png", PNG))
    telegram_sim.say(ada, "", file=("voice", "v.ogg", b"OggS"))
    photo, voice = [update.message for update in await bot.get_updates()]
    assert (photo.caption, voice.caption, voice.voice.duration) == ("look", None, 1)
    file = await photo.photo[-1].get_file()
    assert bytes(await file.download_as_bytearray()) == PNG


async def test_a_file_over_20_mb_cannot_be_fetched(telegram_sim, bot, ada):
    telegram_sim.say(
        ada, "summarise this", file=("document", "big.pdf", b"%PDF"), claimed_bytes=21 * 1024 * 1024
    )
    [update] = await bot.get_updates()
    assert update.message.document.file_size == 21 * 1024 * 1024
    with pytest.raises(BadRequest, match=r"(?i)file is too big"):
        await update.message.document.get_file()


async def test_albums_come_and_go_as_messages_with_one_group_id(telegram_sim, bot, ada):
    telegram_sim.say(ada, "both", file=("photo", "1.png", PNG), album="a1")
    telegram_sim.say(ada, "", file=("photo", "2.png", PNG), album="a1")
    assert [update.message.media_group_id for update in await bot.get_updates()] == ["a1", "a1"]
    sent = await bot.send_media_group(
        ada.id,
        [
            InputMediaDocument(b"one", filename="1.txt", caption="first"),
            InputMediaDocument(b"two", filename="2.txt"),
        ],
    )
    assert sent[0].media_group_id == sent[1].media_group_id
    assert [(shown.file.name, shown.text) for shown in telegram_sim.replies(ada)] == [
        ("1.txt", "first"),
        ("2.txt", ""),
    ]
